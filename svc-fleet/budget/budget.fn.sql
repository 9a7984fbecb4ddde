-- Budgets: periods of the calendar, what was spent in them, and what accounts are told of it.
--
-- A period is a function of the time, so that nothing has to be reset. budget_period_add() is the only writer of what was spent, in
-- the transaction that stores a run; a budget that is made counts the runs of its current period while nothing is told of the
-- account's runs. A run belongs to the period of its start, whenever it reports.

-- The period of the calendar that a moment is in. A day begins at 00:00 there and may have 23 or 25 hours; a week begins on a day
-- from 1, Monday, to 7.
CREATE OR REPLACE FUNCTION calendar_period(period text, zone text, week_starts int, moment timestamptz,
                                OUT starts_at timestamptz, OUT ends_at timestamptz) LANGUAGE plpgsql STABLE AS $$
DECLARE
    shift interval := CASE period WHEN 'week' THEN make_interval(days => week_starts - 1) ELSE '0' END;
    start timestamp := date_trunc(period, moment AT TIME ZONE zone - shift) + shift;
BEGIN
    starts_at := start AT TIME ZONE zone;
    ends_at := (start + ('1 ' || period)::interval) AT TIME ZONE zone;
END $$;

-- The period of a budget that a moment is in. Another time zone or first day of the week holds from the end of a period on; the first
-- of the new ones is shorter then.
CREATE OR REPLACE FUNCTION budget_period_at(b budget, moment timestamptz, OUT starts_at timestamptz, OUT ends_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF moment < b.zone_since THEN
        SELECT p.starts_at, least(p.ends_at, b.zone_since) INTO starts_at, ends_at
        FROM calendar_period(b.period, b.former_time_zone, b.former_week_starts, moment) AS p;
    ELSE
        SELECT greatest(p.starts_at, b.zone_since), p.ends_at INTO starts_at, ends_at
        FROM calendar_period(b.period, b.time_zone, b.week_starts, moment) AS p;
    END IF;
END $$;

-- What a run is in a budget: its part of each figure of a period, `sign` times.
CREATE OR REPLACE FUNCTION budget_part(r run, sign int, OUT account_id uuid, OUT repo_key text, OUT interest_id text, OUT at timestamptz,
                            OUT reported numeric, OUT estimated numeric, OUT runs int, OUT runs_unknown int)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF r.attempts IS NULL THEN -- it was stored by the former version
        r.attempts := spend_attempts(r);
        r := spend_sum(r);
    END IF;
    account_id := r.account_id;
    repo_key := r.repo_key;
    interest_id := r.interest_id;
    at := r.at;
    reported := CASE WHEN r.spend_basis = 'reported' THEN sign * r.spend_usd ELSE 0 END;
    estimated := CASE WHEN r.spend_basis = 'estimated' THEN sign * r.spend_usd ELSE 0 END;
    runs := sign;
    runs_unknown := CASE WHEN r.spend_usd IS NULL AND r.outcome_kind <> 'running' THEN sign ELSE 0 END;
END $$;

-- Whether a budget is about a run.
CREATE OR REPLACE FUNCTION budget_has(b budget, repo_key text, interest_id text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN b.target = CASE b.scope WHEN 'repo' THEN repo_key WHEN 'interest' THEN interest_id ELSE '' END;

-- A budget as messages and refusals name it.
CREATE OR REPLACE FUNCTION budget_name(b budget) RETURNS text LANGUAGE sql IMMUTABLE
RETURN trim_scale(b.usd)::text || ' USD a ' || b.period
    || CASE b.scope WHEN 'repo' THEN ' on ' || b.repo WHEN 'interest' THEN ' for an interest' ELSE '' END;

-- The share that was spent, in percent; of a budget of nothing all of it, once anything was.
CREATE OR REPLACE FUNCTION budget_percent(usd numeric, spent numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN usd > 0 THEN round(100 * spent / usd, 2) WHEN spent > 0 THEN 100 ELSE 0 END;

-- The three dearest runs of a period.
CREATE OR REPLACE FUNCTION budget_top(b budget, starts_at timestamptz, ends_at timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('repo', x.repo, 'run_id', x.run_id, 'spend_usd', x.spend_usd, 'basis', x.spend_basis)
                              ORDER BY x.spend_usd DESC, x.id), '[]')
    FROM (SELECT r.id, r.repo, r.run_id, r.spend_usd, r.spend_basis FROM run r
          WHERE r.account_id = b.account_id AND r.at >= starts_at AND r.at < ends_at AND r.spend_usd > 0
            AND budget_has(b, r.repo_key, r.interest_id)
          ORDER BY r.spend_usd DESC, r.id LIMIT 3) x
$$;

-- Tell the account of each share that was passed in the current period, once: of those below 100 that were passed together, of the
-- greatest. A closed period is no news.
CREATE OR REPLACE FUNCTION budget_announce(b budget, p budget_period) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    spent numeric := p.reported + p.estimated;
    share numeric := budget_percent(b.usd, spent);
    passed int;
BEGIN
    IF p.ends_at <= now() THEN
        RETURN;
    END IF;
    WITH new AS (
        INSERT INTO budget_notice (budget_id, starts_at, percent)
        SELECT b.id, p.starts_at, x.percent FROM unnest(b.warn_percent || 100) AS x (percent) WHERE x.percent <= share
        ON CONFLICT DO NOTHING RETURNING percent)
    SELECT max(n.percent) INTO passed FROM new n;
    IF passed IS NULL THEN
        RETURN;
    END IF;
    PERFORM message_emit('events.runs', CASE WHEN passed < 100 THEN 'budget.warned' ELSE 'budget.reached' END, b.account_id,
        jsonb_build_object(
            'budget_id', b.id, 'name', budget_name(b), 'scope', b.scope, 'repo', b.repo, 'interest_id', b.interest_id,
            'period', b.period, 'starts_at', time_json(p.starts_at), 'ends_at', time_json(p.ends_at), 'time_zone', b.time_zone,
            'usd', b.usd, 'spent_usd', spent, 'percent', share, 'action', b.action,
            'top', budget_top(b, p.starts_at, p.ends_at), 'url', '/console/agents'));
    PERFORM inbox_mark(b.account_id, clock_timestamp()) WHERE passed >= 80;
END $$;

-- Add what runs were and became to the periods of the budgets that are about them. Locks the periods in the order of their key.
CREATE OR REPLACE FUNCTION budget_period_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    accounts uuid[] := ARRAY(SELECT DISTINCT coalesce((c.became).account_id, (c.was).account_id) FROM unnest(changes) c);
    x record;
BEGIN
    IF NOT EXISTS (SELECT FROM budget b WHERE b.account_id = ANY (accounts)) THEN
        RETURN;
    END IF;
    FOR x IN
        WITH part AS (
            SELECT p.* FROM unnest(changes) c, budget_part(c.became, 1) p WHERE (c.became).id IS NOT NULL
            UNION ALL
            SELECT p.* FROM unnest(changes) c, budget_part(c.was, -1) p WHERE (c.was).id IS NOT NULL
        ), sums AS (
            SELECT b.account_id, b.id, w.starts_at, w.ends_at, sum(p.reported) AS reported, sum(p.estimated) AS estimated,
                   sum(p.runs) AS runs, sum(p.runs_unknown) AS runs_unknown
            FROM part p JOIN budget b ON b.account_id = p.account_id AND budget_has(b, p.repo_key, p.interest_id),
                 budget_period_at(b, p.at) AS w
            WHERE w.starts_at >= b.counted_from
            GROUP BY b.account_id, b.id, w.starts_at, w.ends_at
        ), added AS (
            INSERT INTO budget_period AS y (account_id, budget_id, starts_at, ends_at, reported, estimated, runs, runs_unknown)
            SELECT s.account_id, s.id, s.starts_at, s.ends_at, s.reported, s.estimated, s.runs, s.runs_unknown FROM sums s
            WHERE (s.reported, s.estimated, s.runs, s.runs_unknown) <> (0, 0, 0, 0) ORDER BY s.id, s.starts_at
            ON CONFLICT (budget_id, starts_at) DO UPDATE SET
                reported = y.reported + excluded.reported, estimated = y.estimated + excluded.estimated,
                runs = y.runs + excluded.runs, runs_unknown = y.runs_unknown + excluded.runs_unknown,
                corrected_at = CASE WHEN y.ends_at <= now() THEN now() ELSE y.corrected_at END
            RETURNING y)
        SELECT b, a.y AS p FROM added a JOIN budget b ON b.id = (a.y).budget_id
    LOOP
        PERFORM budget_announce(x.b, x.p);
    END LOOP;
END $$;

-- The figures of a budget's period as its runs say. Most runs need no look at their record.
CREATE OR REPLACE FUNCTION budget_period_count(b budget, from_time timestamptz, to_time timestamptz,
                                    OUT reported numeric, OUT estimated numeric, OUT runs bigint, OUT runs_unknown bigint)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(x.reported), 0), coalesce(sum(x.estimated), 0), coalesce(sum(x.runs), 0), coalesce(sum(x.runs_unknown), 0)
    FROM (SELECT sum(r.spend_usd) FILTER (WHERE r.spend_basis = 'reported'), sum(r.spend_usd) FILTER (WHERE r.spend_basis = 'estimated'),
                 count(*), count(*) FILTER (WHERE r.spend_usd IS NULL AND r.outcome_kind <> 'running')
          FROM run r
          WHERE r.account_id = b.account_id AND r.at >= from_time AND r.at < to_time AND r.attempts IS NOT NULL
            AND budget_has(b, r.repo_key, r.interest_id)
          UNION ALL
          SELECT p.reported, p.estimated, p.runs, p.runs_unknown FROM run r, budget_part(r, 1) AS p
          WHERE r.account_id = b.account_id AND r.at >= from_time AND r.at < to_time AND r.attempts IS NULL
            AND budget_has(b, r.repo_key, r.interest_id)) AS x (reported, estimated, runs, runs_unknown)
$$;

-- Count the runs of a new budget's current period. The caller holds the account's lock alone.
CREATE OR REPLACE FUNCTION budget_count(b budget) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    w record;
    p budget_period;
BEGIN
    SELECT * INTO w FROM budget_period_at(b, now());
    UPDATE budget x SET counted_from = w.starts_at WHERE x.id = b.id;
    INSERT INTO budget_period AS y (account_id, budget_id, starts_at, ends_at, reported, estimated, runs, runs_unknown)
    SELECT b.account_id, b.id, w.starts_at, w.ends_at, c.reported, c.estimated, c.runs, c.runs_unknown
    FROM budget_period_count(b, w.starts_at, w.ends_at) AS c WHERE c.runs > 0
    RETURNING y.* INTO p;
    IF FOUND THEN
        PERFORM budget_announce(b, p);
    END IF;
END $$;

-- Change a budget. Another time zone begins with the next period; shares that are not passed any more can be passed again.
CREATE OR REPLACE FUNCTION budget_change(b budget, given budget) RETURNS budget LANGUAGE plpgsql AS $$
DECLARE
    w record;
    p budget_period;
BEGIN
    SELECT * INTO w FROM budget_period_at(b, now());
    IF (given.time_zone, given.week_starts) <> (b.time_zone, b.week_starts) THEN
        IF b.zone_since <= now() THEN
            b.former_time_zone := b.time_zone;
            b.former_week_starts := b.week_starts;
            b.zone_since := w.ends_at;
        END IF;
        b.time_zone := given.time_zone;
        b.week_starts := given.week_starts;
    END IF;
    UPDATE budget x SET usd = given.usd, action = given.action, warn_percent = given.warn_percent, time_zone = b.time_zone,
        week_starts = b.week_starts, former_time_zone = b.former_time_zone, former_week_starts = b.former_week_starts,
        zone_since = b.zone_since, updated_at = now()
    WHERE x.id = b.id RETURNING x.* INTO b;
    SELECT y.* INTO p FROM budget_period y WHERE y.budget_id = b.id AND y.starts_at = w.starts_at FOR UPDATE;
    IF FOUND THEN
        DELETE FROM budget_notice n WHERE n.budget_id = b.id AND n.starts_at = p.starts_at
            AND n.percent > budget_percent(b.usd, p.reported + p.estimated);
        PERFORM budget_announce(b, p);
    END IF;
    RETURN b;
END $$;

-- Make the budget of a scope, target and period, or replace it. Violates budget_max and budget_time_zone.
CREATE OR REPLACE FUNCTION budget_put(account uuid, given jsonb, named_repo text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    g budget := jsonb_populate_record(NULL::budget, '{"action": "warn", "warn_percent": [50, 80, 100], "time_zone": "UTC", "week_starts": 1}'
                                      || jsonb_strip_nulls(given) - 'repo');
    b budget;
BEGIN
    IF NOT time_zone_is_known(g.time_zone) THEN
        RAISE check_violation USING MESSAGE = 'the time zone is unknown', CONSTRAINT = 'budget_time_zone';
    END IF;
    g.usd := trim_scale(round(g.usd, 6));
    g.repo := named_repo;
    g.target := coalesce(lower(named_repo), g.interest_id::text, '');
    PERFORM account_lock(account, true);
    SELECT x.* INTO b FROM budget x WHERE x.account_id = account AND x.scope = g.scope AND x.target = g.target AND x.period = g.period;
    IF FOUND THEN
        b := budget_change(b, g);
    ELSE
        IF (SELECT count(*) FROM budget x WHERE x.account_id = account) >= 100 THEN
            RAISE check_violation USING MESSAGE = 'too many budgets', CONSTRAINT = 'budget_max';
        END IF;
        INSERT INTO budget (account_id, scope, target, repo, interest_id, period, usd, action, warn_percent, time_zone, week_starts,
                            former_time_zone, former_week_starts)
        VALUES (account, g.scope, g.target, g.repo, g.interest_id, g.period, g.usd, g.action, g.warn_percent, g.time_zone,
                g.week_starts, g.time_zone, g.week_starts)
        RETURNING * INTO b;
        PERFORM budget_count(b);
    END IF;
    RETURN budget_json(b);
END $$;

-- A period as the API shows it. `forecast_usd`: what is spent by its end at the pace so far, once a fifth of it is over.
CREATE OR REPLACE FUNCTION budget_period_json(b budget, starts_at timestamptz, ends_at timestamptz, p budget_period) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'starts_at', time_json(starts_at), 'ends_at', time_json(ends_at), 'spent_usd', s.spent,
        'reported_usd', coalesce(p.reported, 0), 'estimated_usd', coalesce(p.estimated, 0),
        'remaining_usd', greatest(b.usd - s.spent, 0), 'over_usd', greatest(s.spent - b.usd, 0), 'percent', budget_percent(b.usd, s.spent),
        'runs', coalesce(p.runs, 0), 'runs_unknown', coalesce(p.runs_unknown, 0),
        'forecast_usd', CASE WHEN s.elapsed BETWEEN 0.2 AND 1 THEN trim_scale(round(s.spent / s.elapsed, 6)) END,
        'reached', budget_percent(b.usd, s.spent) >= 100, 'corrected_at', time_json(p.corrected_at))
    FROM (SELECT coalesce(p.reported + p.estimated, 0),
                 extract(epoch FROM now() - starts_at) / extract(epoch FROM ends_at - starts_at)) AS s (spent, elapsed)
$$;

-- A budget as the API shows it.
CREATE OR REPLACE FUNCTION budget_json(b budget) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'budget_id', b.id, 'scope', b.scope, 'repo', b.repo, 'interest_id', b.interest_id, 'period', b.period, 'usd', b.usd,
        'action', b.action, 'warn_percent', to_jsonb(b.warn_percent), 'time_zone', b.time_zone, 'week_starts', b.week_starts,
        'created_at', time_json(b.created_at), 'updated_at', time_json(b.updated_at),
        'state', budget_period_json(b, w.starts_at, w.ends_at, p))
    FROM budget_period_at(b, now()) AS w
    LEFT JOIN budget_period p ON p.budget_id = b.id AND p.starts_at = w.starts_at
$$;

-- What a key that is limited sees of a budget: of one that is not about its repository or interest alone, whether it is reached.
CREATE OR REPLACE FUNCTION budget_limited_json(b budget) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('budget_id', j -> 'budget_id', 'scope', b.scope, 'period', b.period,
                              'state', jsonb_build_object('reached', j #> '{state,reached}', 'ends_at', j #> '{state,ends_at}'))
    FROM budget_json(b) AS j
$$;

-- Take the budgets of a repository along when it is renamed. Where both names have one of a period, that of the new name stays.
CREATE OR REPLACE FUNCTION budgets_move(account uuid, old_name text, new_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM budget b USING budget o
    WHERE b.account_id = account AND b.scope = 'repo' AND b.target = lower(old_name) AND o.account_id = account AND o.scope = 'repo'
      AND o.target = lower(new_name) AND o.period = b.period AND o.id <> b.id;
    UPDATE budget b SET target = lower(new_name), repo = new_name
    WHERE b.account_id = account AND b.scope = 'repo' AND b.target = lower(old_name);
END $$;

-- Compare the figures of the current period of a budget with its runs, and mend them: of the one that was not compared for longest,
-- unless that was in the last 20 hours. The budget, and the difference in USD; null: there is none.
CREATE OR REPLACE FUNCTION budget_check_next(OUT budget_id uuid, OUT drift_usd numeric) LANGUAGE plpgsql AS $$
DECLARE
    b budget;
    w record;
    counted record;
BEGIN
    SELECT x.* INTO b FROM budget x WHERE x.checked_at < now() - interval '20 hours' ORDER BY x.checked_at LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    budget_id := b.id;
    drift_usd := 0;
    PERFORM account_lock(b.account_id, true);
    UPDATE budget x SET checked_at = now() WHERE x.id = b.id AND x.checked_at = b.checked_at RETURNING x.* INTO b;
    IF NOT FOUND THEN
        RETURN; -- another process has compared it, or it was deleted
    END IF;
    SELECT * INTO w FROM budget_period_at(b, now());
    SELECT * INTO counted FROM budget_period_count(b, w.starts_at, w.ends_at);
    SELECT abs(counted.reported + counted.estimated - coalesce(sum(p.reported + p.estimated), 0)) INTO drift_usd
    FROM budget_period p WHERE p.budget_id = b.id AND p.starts_at = w.starts_at;
    UPDATE budget_period p SET reported = counted.reported, estimated = counted.estimated, runs = counted.runs,
        runs_unknown = counted.runs_unknown
    WHERE p.budget_id = b.id AND p.starts_at = w.starts_at
      AND (p.reported, p.estimated, p.runs, p.runs_unknown)
          <> (counted.reported, counted.estimated, counted.runs, counted.runs_unknown);
END $$;
