-- How what is known of runs goes (retention.h).

-- Delete papers that runs passed over, the oldest first; those that they chose stay as long as the run. Returns how many.
CREATE OR REPLACE FUNCTION rejections_forget(days int, batch int) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH old AS (
        SELECT c.run, c.arxiv_id FROM candidate c
        WHERE c.gate IS NOT NULL AND c.first_at < now() - make_interval(days => days)
        ORDER BY c.first_at LIMIT batch FOR UPDATE SKIP LOCKED
    )
    DELETE FROM candidate c USING old WHERE c.run = old.run AND c.arxiv_id = old.arxiv_id;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;

-- Before when a run has arrived whose month ended so many days ago.
CREATE OR REPLACE FUNCTION run_kept_since(days int) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT date_trunc('month', (now() AT TIME ZONE 'UTC') - make_interval(days => days)) AT TIME ZONE 'UTC'
$$;

-- Delete these runs and all that follows from them. Their accounts are locked. The budget's periods stay as
-- they are: what was spent was spent. The runs that were there.
CREATE OR REPLACE FUNCTION runs_delete(old run[]) RETURNS run[] LANGUAGE plpgsql AS $$
DECLARE
    gone run[];
    r run;
BEGIN
    DELETE FROM run_key k USING unnest(old) o
    WHERE k.account_id = o.account_id AND k.repo_key = o.repo_key AND k.run_key = o.run_id #>> '{}' AND k.id = o.id;
    WITH deleted AS (
        DELETE FROM run x USING unnest(old) o WHERE x.id = o.id AND x.first_at = o.first_at RETURNING x
    )
    SELECT array_agg(d.x ORDER BY (d.x).account_id, (d.x).repo_key) INTO gone FROM deleted d;
    DELETE FROM run_detail x USING unnest(gone) g WHERE x.id = g.id AND x.first_at = g.first_at;
    DELETE FROM candidate c USING unnest(gone) g WHERE c.run = g.id;
    DELETE FROM run_text x USING unnest(gone) g WHERE x.run = g.id;
    DELETE FROM cost_unusual x USING unnest(gone) g WHERE x.account_id = g.account_id AND x.kind = 'run' AND x.subject = g.id::text;
    FOREACH r IN ARRAY coalesce(gone, '{}') LOOP
        PERFORM run_repo_subtract(r);
        PERFORM run_day_subtract(r);
    END LOOP;
    PERFORM run_agent_add(ARRAY(SELECT (g, NULL)::run_change FROM unnest(gone) g));
    DELETE FROM reservation v USING unnest(gone) g
    WHERE v.account_id = g.account_id AND v.repo_key = g.repo_key AND v.run_id #>> '{}' = g.run_id #>> '{}' AND v.state <> 'held';
    DELETE FROM deliverable d USING unnest(gone) g
    WHERE d.account_id = g.account_id AND d.url = g.artifact_url
      AND NOT EXISTS (SELECT FROM run x WHERE x.account_id = d.account_id AND x.artifact_url = d.url);
    RETURN coalesce(gone, '{}');
END $$;

-- The days with a file that is whole, and the latest time until which changes are in one.
CREATE OR REPLACE FUNCTION days_exported() RETURNS TABLE (day date, settled_until timestamptz) LANGUAGE sql STABLE AS $$
    SELECT e.day, max(e.settled_until) FROM run_export e WHERE e.finished_at IS NOT NULL GROUP BY e.day
$$;

-- At most `most` runs with ids behind `after` whose month ended so many days ago; `only_exported`: of those that a file has as they are now.
-- Months outside of the days that were exported are not read.
CREATE OR REPLACE FUNCTION runs_old(days int, after uuid, most int, only_exported boolean) RETURNS SETOF run LANGUAGE plpgsql STABLE AS $$
DECLARE
    since timestamptz;
    until timestamptz := run_kept_since(days);
BEGIN
    IF NOT only_exported THEN
        RETURN QUERY SELECT r.* FROM run r WHERE r.first_at < until AND r.id > after ORDER BY r.id LIMIT most;
        RETURN;
    END IF;
    SELECT day_begin(min(e.day)), least(until, day_begin(max(e.day) + 1)) INTO since, until FROM days_exported() e;
    RETURN QUERY
        SELECT r.* FROM run r JOIN days_exported() e ON e.day = (r.first_at AT TIME ZONE 'UTC')::date AND r.changed_at < e.settled_until
        WHERE r.first_at >= since AND r.first_at < until AND r.id > after
        ORDER BY r.id LIMIT most;
END $$;

-- Delete the next of runs_old(). A run that still says it is running goes too.
CREATE OR REPLACE FUNCTION runs_expire(days int, after uuid, most int, only_exported boolean, OUT last_id uuid, OUT deleted int)
LANGUAGE plpgsql AS $$
DECLARE
    old run[] := ARRAY(SELECT r FROM runs_old(days, after, most, only_exported) r);
BEGIN
    last_id := old[cardinality(old)].id;
    PERFORM account_lock(a.id, true) FROM (SELECT DISTINCT o.account_id AS id FROM unnest(old) o ORDER BY 1) a;
    old := ARRAY(SELECT r FROM unnest(old) o JOIN run r ON r.id = o.id AND r.first_at = o.first_at -- as they are behind the lock
                 WHERE NOT only_exported OR run_is_exported(r));
    deleted := cardinality(runs_delete(old));
END $$;

-- Whether a file has all runs of a month as they are now.
CREATE OR REPLACE FUNCTION run_month_is_exported(period text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    month date := to_date(period, 'YYYYMM');
BEGIN
    RETURN NOT EXISTS (
        SELECT FROM run r LEFT JOIN days_exported() e ON e.day = (r.first_at AT TIME ZONE 'UTC')::date
        WHERE r.first_at >= day_begin(month) AND r.first_at < day_begin((month + interval '1 month')::date)
          AND (r.changed_at < e.settled_until) IS NOT TRUE);
END $$;

-- Drop the details of the first month that ended so many days ago; `only_exported`: if a file has all its runs. Does not wait longer than a
-- second for the table, for which all who report would wait. Returns whether there was one.
CREATE OR REPLACE FUNCTION run_detail_month_drop(days int, only_exported boolean) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    first_kept text := to_char((now() AT TIME ZONE 'UTC')::date - days, 'YYYYMM');
    period text;
BEGIN
    FOR period IN SELECT p FROM partition_periods('run_detail') p WHERE p < first_kept ORDER BY p LOOP
        CONTINUE WHEN only_exported AND NOT run_month_is_exported(period);
        EXECUTE format('DROP TABLE IF EXISTS %I', 'run_detail_' || period);
        RETURN true;
    END LOOP;
    RETURN false;
END $$;

-- Drop the first month of runs that ended so many days ago and is empty. It is looked at before the lock, and again behind it. Does not wait
-- longer than a second, as run_detail_month_drop(). Returns whether there was one.
CREATE OR REPLACE FUNCTION run_month_drop(days int) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    first_kept text := to_char(run_kept_since(days) AT TIME ZONE 'UTC', 'YYYYMM');
    period text;
    has_runs boolean;
BEGIN
    FOR period IN SELECT p FROM partition_periods('run') p WHERE p < first_kept ORDER BY p LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', 'run_' || period) INTO has_runs;
        CONTINUE WHEN has_runs;
        LOCK TABLE ONLY run IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', 'run_' || period);
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', 'run_' || period) INTO has_runs;
        IF NOT has_runs THEN
            EXECUTE format('DROP TABLE %I', 'run_' || period);
        END IF;
        RETURN NOT has_runs;
    END LOOP;
    RETURN false;
END $$;
