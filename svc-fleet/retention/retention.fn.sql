-- How what is known of runs goes (retention.h).

-- Delete papers that runs passed over, the oldest first; those that they chose stay as long as the run. How many.
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

-- Drop the details of runs of the months that ended so many days ago. Does not wait longer than a second for the table, for which all who
-- report would wait. How many months.
CREATE OR REPLACE FUNCTION run_details_drop(days int) RETURNS int LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    first_kept text := to_char((now() AT TIME ZONE 'UTC')::date - days, 'YYYYMM');
    dropped int := 0;
    period text;
BEGIN
    FOR period IN SELECT p FROM partition_periods('run_detail') p WHERE p < first_kept LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I', 'run_detail_' || period);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
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

-- Delete at most `most` runs with ids behind `after` whose month ended so many days ago; `only_exported`: of those that a file has as they
-- are now. A run that still says it is running goes too.
CREATE OR REPLACE FUNCTION runs_expire(days int, after uuid, most int, only_exported boolean, OUT last_id uuid, OUT deleted int)
LANGUAGE plpgsql AS $$
DECLARE
    old run[] := ARRAY(SELECT r FROM run r
                       WHERE r.first_at < run_kept_since(days) AND r.id > after AND (NOT only_exported OR run_is_exported(r))
                       ORDER BY r.id LIMIT most);
BEGIN
    last_id := old[cardinality(old)].id;
    PERFORM account_lock(a.id, true) FROM (SELECT DISTINCT o.account_id AS id FROM unnest(old) o ORDER BY 1) a;
    old := ARRAY(SELECT r FROM unnest(old) o JOIN run r ON r.id = o.id AND r.first_at = o.first_at -- as they are behind the lock
                 WHERE NOT only_exported OR run_is_exported(r));
    deleted := cardinality(runs_delete(old));
END $$;

-- Drop the details of months that ended so many days ago; `only_exported`: if all runs of these months were exported. How many months.
CREATE OR REPLACE FUNCTION run_details_expire(days int, only_exported boolean) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    first_month text := (SELECT min(p) FROM partition_periods('run_detail') p);
BEGIN
    IF only_exported AND first_month IS NOT NULL AND EXISTS (
        SELECT FROM run r WHERE r.first_at >= day_begin(to_date(first_month, 'YYYYMM')) AND r.first_at < run_kept_since(days)
                            AND NOT run_is_exported(r)) THEN
        RETURN 0;
    END IF;
    RETURN run_details_drop(days);
END $$;

-- Drop the months of runs that ended so many days ago and are empty. Does not wait longer than a second, as run_details_drop(). How many.
CREATE OR REPLACE FUNCTION run_months_drop(days int) RETURNS int LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    first_kept text := to_char(run_kept_since(days) AT TIME ZONE 'UTC', 'YYYYMM');
    dropped int := 0;
    period text;
    has_runs boolean;
BEGIN
    FOR period IN SELECT p FROM partition_periods('run') p WHERE p < first_kept LOOP
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', 'run_' || period);
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', 'run_' || period) INTO has_runs;
        CONTINUE WHEN has_runs;
        EXECUTE format('DROP TABLE IF EXISTS %I', 'run_' || period);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

-- Delete what is older than so many days and of no run, up to `batch` rows of each table. How many of the table with the most.
CREATE OR REPLACE FUNCTION fleet_others_delete_old(days int, batch int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz := run_kept_since(days);
    counts int[] := '{}';
    n int;
BEGIN
    DELETE FROM run_day WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM run_day WHERE day < (since AT TIME ZONE 'UTC')::date AND runs = 0 LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM run_removed WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM run_removed WHERE removed_at < since LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM inbox_archived WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM inbox_archived WHERE archived_at < since LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM reservation WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM reservation WHERE made_at < since AND state <> 'held' LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM budget_period WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM budget_period WHERE ends_at < since LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM code_host_item WHERE ctid = ANY (ARRAY(
        SELECT i.ctid FROM code_host_item i
        WHERE greatest(i.opened_at, i.closed_at, i.told_at) < since
          AND NOT EXISTS (SELECT FROM deliverable d WHERE d.repo_key = i.repo_key AND d.kind = i.kind AND d.number = i.number)
        LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM run_export WHERE ctid = ANY (ARRAY(
        SELECT e.ctid FROM run_export e
        WHERE e.day < (since AT TIME ZONE 'UTC')::date
          AND NOT EXISTS (SELECT FROM run r WHERE r.first_at >= day_begin(e.day) AND r.first_at < day_begin(e.day + 1))
        LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM code_host_revert WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM code_host_revert WHERE at < since LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM installation WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM installation WHERE revoked_at < since LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || n;
    DELETE FROM experiment WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM experiment WHERE is_deleted AND told_at < now() - interval '60 days' LIMIT batch FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN greatest(n, (SELECT max(c) FROM unnest(counts) c));
END $$;
