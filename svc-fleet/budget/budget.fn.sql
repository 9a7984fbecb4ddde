-- Budgets: periods of the calendar, what was spent in them, and what accounts are told of it.
--
-- A period is a function of the time, so that nothing has to be reset. budget_parts_add() writes what was spent and reserved, nobody else does,
-- in the transaction that stores a run or a reservation; a budget that is made counts those of its current period while nothing is told
-- of the account's runs. A run belongs to the period of its start, whenever it reports; where the code host runs it again, each attempt to that
-- of its own start, and the run, which is counted once, to that of the first.

-- When clocks in a zone first show a time. Of one that they show twice, as they go back by half an hour to two hours, Postgres takes the second.
CREATE OR REPLACE FUNCTION clock_first_at(wall timestamp, zone text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT t.last - back FROM unnest('{2 hours,1 hour,30 minutes}'::interval[]) AS back
                     WHERE (t.last - back) AT TIME ZONE zone = wall ORDER BY back DESC LIMIT 1), t.last)
    FROM (SELECT wall AT TIME ZONE zone) AS t (last)
$$;

-- The period of the calendar that a moment is in. A day begins at 00:00 there and may have 23 or 25 hours; a week begins on a day
-- from 1, Monday, to 7.
CREATE OR REPLACE FUNCTION calendar_period(period text, zone text, week_starts int, moment timestamptz,
                                OUT starts_at timestamptz, OUT ends_at timestamptz) LANGUAGE plpgsql STABLE AS $$
DECLARE
    shift interval := CASE period WHEN 'week' THEN make_interval(days => week_starts - 1) ELSE '0' END;
    known text := zone_or_utc(zone);
    start timestamp := date_trunc(period, moment AT TIME ZONE known - shift) + shift;
BEGIN
    starts_at := clock_first_at(start, known);
    ends_at := clock_first_at(start + ('1 ' || period)::interval, known);
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

-- The time zone by which the current period of a budget is.
CREATE OR REPLACE FUNCTION budget_zone(b budget) RETURNS text LANGUAGE sql STABLE
RETURN zone_or_utc(CASE WHEN now() < b.zone_since THEN b.former_time_zone ELSE b.time_zone END);

-- What a run is in budgets: its part of each figure of a period, `sign` times.
CREATE OR REPLACE FUNCTION budget_part_of_run(r run, sign int) RETURNS budget_part LANGUAGE plpgsql STABLE AS $$
DECLARE
    spent numeric;
BEGIN
    IF r.attempts IS NULL THEN -- it was stored by the former version
        r.attempts := spend_attempts(r);
        r := spend_sum(r);
    END IF;
    spent := sign * r.spend_usd;
    RETURN (r.account_id, r.repo_key, spend_budget_interest(r), r.at, CASE r.spend_basis WHEN 'reported' THEN spent ELSE 0 END,
            CASE r.spend_basis WHEN 'estimated' THEN spent ELSE 0 END, CASE r.spend_basis WHEN 'assumed' THEN spent ELSE 0 END, 0,
            sign, CASE WHEN r.spend_usd IS NULL AND r.outcome_kind <> 'running' THEN sign ELSE 0 END)::budget_part;
END $$;

-- The same of each attempt of a run that has several.
CREATE OR REPLACE FUNCTION budget_parts_of_attempts(r run, sign int) RETURNS SETOF budget_part LANGUAGE sql STABLE AS $$
    SELECT r.account_id, r.repo_key, spend_budget_interest(r), a.at,
           CASE a.basis WHEN 'reported' THEN sign * a.usd ELSE 0 END, CASE a.basis WHEN 'estimated' THEN sign * a.usd ELSE 0 END,
           CASE a.basis WHEN 'assumed' THEN sign * a.usd ELSE 0 END, 0, CASE WHEN a.is_first THEN sign ELSE 0 END,
           CASE WHEN a.is_first AND r.spend_usd IS NULL AND r.outcome_kind <> 'running' THEN sign ELSE 0 END
    FROM (SELECT x.at, x.value ->> 'basis' AS basis, (x.value ->> 'usd')::numeric AS usd,
                 row_number() OVER (ORDER BY x.at, x.key::int) = 1 AS is_first
          FROM (SELECT e.key, e.value, spend_at(e.value, r.at) AS at FROM jsonb_each(r.attempts) AS e) x) a
$$;

-- What a reservation that is held is in budgets.
CREATE OR REPLACE FUNCTION budget_part_of_reservation(x reservation, sign int) RETURNS budget_part LANGUAGE sql IMMUTABLE AS $$
    SELECT (x.account_id, x.repo_key, x.interest_id::text, x.made_at, 0, 0, 0, sign * x.amount_usd, 0, 0)::budget_part
$$;

-- Whether a budget is about a run.
CREATE OR REPLACE FUNCTION budget_has(b budget, repo_key text, interest_id text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN b.target = CASE b.scope WHEN 'repo' THEN repo_key WHEN 'interest' THEN interest_id ELSE '' END;

-- A budget as messages and refusals name it.
CREATE OR REPLACE FUNCTION budget_name(b budget) RETURNS text LANGUAGE sql IMMUTABLE
RETURN trim_scale(b.usd)::text || ' USD a ' || b.period
    || CASE b.scope WHEN 'repo' THEN ' on ' || b.repo WHEN 'interest' THEN ' for an interest' ELSE '' END;

-- Whether a share of a budget was spent; of a budget of nothing all of it, once anything was.
CREATE OR REPLACE FUNCTION budget_passes(usd numeric, spent numeric, percent numeric) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN usd > 0 THEN 100 * spent >= usd * percent ELSE spent > 0 AND percent <= 100 END;

-- The share that was spent, in percent, as it is shown: it is rounded, so budget_passes() decides.
CREATE OR REPLACE FUNCTION budget_percent(usd numeric, spent numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN usd > 0 THEN round(100 * spent / usd, 2) WHEN spent > 0 THEN 100 ELSE 0 END;

-- What was spent in a period.
CREATE OR REPLACE FUNCTION budget_spent(p budget_period) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT p.reported + p.estimated + p.assumed
$$;

-- Whether all of it is spent, or a start was refused since the budget was raised last, which removes the notice.
CREATE OR REPLACE FUNCTION budget_is_reached(b budget, p budget_period, spent numeric) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT budget_passes(b.usd, spent, 100) OR (coalesce(p.refused, 0) > 0 AND EXISTS (
        SELECT FROM budget_notice n WHERE n.budget_id = b.id AND n.starts_at = p.starts_at AND n.percent = 100))
$$;

-- The three dearest runs of a period.
CREATE OR REPLACE FUNCTION budget_top(b budget, starts_at timestamptz, ends_at timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('repo', x.repo, 'run_id', x.run_id, 'spend_usd', x.usd, 'basis', x.spend_basis)
                              ORDER BY x.usd DESC, x.id), '[]')
    FROM (SELECT r.id, r.repo, r.run_id, spend_between(r, starts_at, ends_at) AS usd, r.spend_basis FROM run r
          WHERE r.account_id = b.account_id AND r.at >= starts_at AND r.at < ends_at AND spend_between(r, starts_at, ends_at) > 0
            AND budget_has(b, r.repo_key, spend_budget_interest(r))
          ORDER BY usd DESC, r.id LIMIT 3) x
$$;

-- What is said of a budget that is not spent, but of which too little was left for a start.
CREATE OR REPLACE FUNCTION budget_refused_text() RETURNS text LANGUAGE sql IMMUTABLE
RETURN '; too little is left for a run, which was not started';

-- Tell the account of each share that was passed in the current period, once: of those below 100 that were passed together, of the
-- greatest. The first start that is refused has reached the end, too. A closed period is no news. Whether the inbox has something new, which
-- is what is passed from 80 on: the caller marks it when all else is locked (run/telemetry.fn.sql).
CREATE OR REPLACE FUNCTION budget_tell(b budget, p budget_period, is_refused boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    share numeric := budget_percent(b.usd, budget_spent(p));
    told int; -- the greatest share of those to tell of
    is_new_in_inbox boolean;
BEGIN
    IF p.ends_at <= now() THEN
        RETURN false;
    END IF;
    WITH new AS (
        INSERT INTO budget_notice (budget_id, starts_at, percent)
        SELECT DISTINCT b.id, p.starts_at, x.percent FROM unnest(b.warn_percent || ARRAY[80, 100]) AS x (percent)
        WHERE budget_passes(b.usd, budget_spent(p), x.percent) OR (x.percent = 100 AND is_refused)
        ON CONFLICT DO NOTHING RETURNING percent)
    SELECT max(n.percent) FILTER (WHERE n.percent = ANY (b.warn_percent || 100)), bool_or(n.percent >= 80)
    INTO told, is_new_in_inbox FROM new n;
    PERFORM message_emit('events.runs', CASE WHEN told < 100 THEN 'budget.warned' ELSE 'budget.reached' END, b.account_id,
        jsonb_build_object(
            'budget_id', b.id,
            'name', budget_name(b) || CASE WHEN told >= 100 AND NOT budget_passes(b.usd, budget_spent(p), 100) THEN budget_refused_text() ELSE '' END,
            'scope', b.scope, 'repo', b.repo, 'interest_id', b.interest_id,
            'period', b.period, 'starts_at', time_json(p.starts_at), 'ends_at', time_json(p.ends_at), 'time_zone', budget_zone(b),
            'usd', b.usd, 'spent_usd', budget_spent(p), 'assumed_usd', p.assumed, 'percent', share, 'action', b.action,
            'refused', p.refused, 'top', budget_top(b, p.starts_at, p.ends_at), 'url', '/console/agents'))
    WHERE told IS NOT NULL;
    RETURN coalesce(is_new_in_inbox, false);
END $$;

-- Tell of them, and mark the inbox.
CREATE OR REPLACE FUNCTION budget_announce(b budget, p budget_period, is_refused boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM inbox_mark(b.account_id, clock_timestamp()) WHERE budget_tell(b, p, is_refused);
END $$;

-- Add parts to the periods of the budgets that are about them. Locks the periods in the order of their key. The inboxes that have something
-- new, for inbox_mark().
CREATE OR REPLACE FUNCTION budget_parts_add(parts budget_part[]) RETURNS inbox_look[] LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    accounts uuid[] := ARRAY(SELECT DISTINCT p.account_id FROM unnest(parts) p);
    looks inbox_look[] := '{}';
    x record;
BEGIN
    IF NOT EXISTS (SELECT FROM budget b WHERE b.account_id = ANY (accounts)) THEN
        RETURN looks;
    END IF;
    FOR x IN
        WITH sums AS (
            SELECT b.account_id, b.id, w.starts_at, w.ends_at, sum(p.reported) AS reported, sum(p.estimated) AS estimated,
                   sum(p.assumed) AS assumed, sum(p.reserved) AS reserved, sum(p.runs) AS runs, sum(p.runs_unknown) AS runs_unknown
            FROM unnest(parts) p JOIN budget b ON b.account_id = p.account_id AND budget_has(b, p.repo_key, p.interest_id),
                 budget_period_at(b, p.at) AS w
            WHERE w.ends_at > b.counted_from
            GROUP BY b.account_id, b.id, w.starts_at, w.ends_at
        ), added AS (
            INSERT INTO budget_period AS y (account_id, budget_id, starts_at, ends_at, reported, estimated, assumed, reserved, runs,
                                            runs_unknown)
            SELECT s.account_id, s.id, s.starts_at, s.ends_at, s.reported, s.estimated, s.assumed, s.reserved, s.runs, s.runs_unknown
            FROM sums s
            WHERE (s.reported, s.estimated, s.assumed, s.reserved, s.runs, s.runs_unknown) <> (0, 0, 0, 0, 0, 0)
            ORDER BY s.id, s.starts_at
            ON CONFLICT (budget_id, starts_at) DO UPDATE SET
                reported = y.reported + excluded.reported, estimated = y.estimated + excluded.estimated,
                assumed = y.assumed + excluded.assumed, reserved = y.reserved + excluded.reserved,
                runs = y.runs + excluded.runs, runs_unknown = y.runs_unknown + excluded.runs_unknown,
                corrected_at = CASE WHEN y.ends_at <= now() THEN now() ELSE y.corrected_at END
            RETURNING y)
        SELECT b, a.y AS p FROM added a JOIN budget b ON b.id = (a.y).budget_id
    LOOP
        IF budget_tell(x.b, x.p, false) THEN
            looks := looks || ((x.b).account_id, clock_timestamp())::inbox_look;
        END IF;
    END LOOP;
    RETURN looks;
END $$;

-- Add parts, and mark these inboxes.
CREATE OR REPLACE FUNCTION budget_add(parts budget_part[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM inbox_mark(budget_parts_add(parts));
END $$;

-- Lock the periods of budgets at several times in the order of their key, as budget_parts_add() does, for who writes them one by one. A
-- period that has no figures gets some, or a report could begin it meanwhile.
CREATE OR REPLACE FUNCTION budget_periods_lock(budgets budget[], moments timestamptz[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO budget_period AS y (account_id, budget_id, starts_at, ends_at)
    SELECT DISTINCT b.account_id, b.id, w.starts_at, w.ends_at
    FROM unnest(budgets) b, unnest(moments) m, budget_period_at(b, m) AS w
    WHERE w.ends_at > b.counted_from
    ORDER BY b.id, w.starts_at
    ON CONFLICT (budget_id, starts_at) DO UPDATE SET refused = y.refused WHERE false; -- locks, and writes nothing
END $$;

-- Add what runs were and became, and take out what was reserved for those that have ended. As budget_parts_add().
CREATE OR REPLACE FUNCTION budget_changes_add(changes run_change[]) RETURNS inbox_look[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN budget_parts_add(ARRAY(
        SELECT p.part
        FROM unnest(changes) c, LATERAL (
            SELECT budget_part_of_run(c.became, 1) WHERE (c.became).id IS NOT NULL AND NOT spend_is_repeated((c.became).attempts)
            UNION ALL
            SELECT budget_part_of_run(c.was, -1) WHERE (c.was).id IS NOT NULL AND NOT spend_is_repeated((c.was).attempts)
            UNION ALL
            SELECT a FROM budget_parts_of_attempts(c.became, 1) a WHERE spend_is_repeated((c.became).attempts)
            UNION ALL
            SELECT a FROM budget_parts_of_attempts(c.was, -1) a WHERE spend_is_repeated((c.was).attempts)) p (part)
        UNION ALL
        SELECT budget_part_of_reservation(x, -1) FROM reservations_settle(changes) x));
END $$;

-- Add them, and mark these inboxes.
CREATE OR REPLACE FUNCTION budget_period_add(changes run_change[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM inbox_mark(budget_changes_add(changes));
END $$;

-- The figures of a budget's current period as its runs and reservations say. Most runs need no look at their record. A run may have been
-- dated before its last attempt, which has not told when it began; it has changed since.
CREATE OR REPLACE FUNCTION budget_period_count(b budget, from_time timestamptz, to_time timestamptz,
                                    OUT reported numeric, OUT estimated numeric, OUT assumed numeric, OUT reserved numeric,
                                    OUT runs bigint, OUT runs_unknown bigint)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(x.reported), 0), coalesce(sum(x.estimated), 0), coalesce(sum(x.assumed), 0), coalesce(sum(x.reserved), 0),
           coalesce(sum(x.runs), 0), coalesce(sum(x.runs_unknown), 0)
    FROM (SELECT sum(r.spend_usd) FILTER (WHERE r.spend_basis = 'reported'), sum(r.spend_usd) FILTER (WHERE r.spend_basis = 'estimated'),
                 sum(r.spend_usd) FILTER (WHERE r.spend_basis = 'assumed'), 0, count(*),
                 count(*) FILTER (WHERE r.spend_usd IS NULL AND r.outcome_kind <> 'running')
          FROM run r
          WHERE r.account_id = b.account_id AND r.at >= from_time AND r.at < to_time AND r.attempts IS NOT NULL
            AND NOT spend_is_repeated(r.attempts) AND budget_has(b, r.repo_key, spend_budget_interest(r))
          UNION ALL
          SELECT p.reported, p.estimated, p.assumed, 0, p.runs, p.runs_unknown FROM run r, budget_part_of_run(r, 1) AS p
          WHERE r.account_id = b.account_id AND r.at >= from_time AND r.at < to_time AND r.attempts IS NULL
            AND budget_has(b, r.repo_key, spend_budget_interest(r))
          UNION ALL
          SELECT p.reported, p.estimated, p.assumed, 0, p.runs, p.runs_unknown FROM run r, budget_parts_of_attempts(r, 1) AS p
          WHERE r.account_id = b.account_id AND r.at >= from_time - interval '32 days' AND r.at < to_time AND r.changed_at >= from_time
            AND spend_is_repeated(r.attempts) AND budget_has(b, r.repo_key, spend_budget_interest(r)) AND p.at >= from_time AND p.at < to_time
          UNION ALL
          SELECT 0, 0, 0, sum(v.amount_usd), 0, 0 FROM reservation v
          WHERE v.account_id = b.account_id AND v.state = 'held' AND v.made_at >= from_time AND v.made_at < to_time
            AND budget_has(b, v.repo_key, v.interest_id::text)) AS x (reported, estimated, assumed, reserved, runs, runs_unknown)
$$;

-- Count the runs and reservations of the current period of a budget for which nothing was counted. The caller holds the account's lock alone.
CREATE OR REPLACE FUNCTION budget_count(b budget) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    w record;
    p budget_period;
BEGIN
    SELECT * INTO w FROM budget_period_at(b, now());
    UPDATE budget x SET counted_from = least(x.counted_from, w.starts_at) WHERE x.id = b.id;
    INSERT INTO budget_period AS y (account_id, budget_id, starts_at, ends_at, reported, estimated, assumed, reserved, runs, runs_unknown)
    SELECT b.account_id, b.id, w.starts_at, w.ends_at, c.reported, c.estimated, c.assumed, c.reserved, c.runs, c.runs_unknown
    FROM budget_period_count(b, w.starts_at, w.ends_at) AS c
    WHERE (c.reported, c.estimated, c.assumed, c.reserved, c.runs) <> (0, 0, 0, 0, 0)
    RETURNING y.* INTO p;
    IF FOUND THEN
        PERFORM budget_announce(b, p, false);
    END IF;
END $$;

-- Change a budget. Another time zone begins with the next period; shares that are not passed any more once it is raised can be passed again.
-- In the first period of a time zone, which is shorter, the current period is then the whole one of that zone, and is counted. The caller
-- holds the account's lock alone.
CREATE OR REPLACE FUNCTION budget_change(b budget, given budget) RETURNS budget LANGUAGE plpgsql AS $$
DECLARE
    was record;
    w record;
    p budget_period;
    is_raised boolean := given.usd > b.usd;
BEGIN
    SELECT * INTO was FROM budget_period_at(b, now());
    IF (given.time_zone, given.week_starts) <> (b.time_zone, b.week_starts) THEN
        IF b.zone_since <= now() THEN
            b.former_time_zone := b.time_zone;
            b.former_week_starts := b.week_starts;
            b.zone_since := was.ends_at;
        END IF;
        b.time_zone := given.time_zone;
        b.week_starts := given.week_starts;
    END IF;
    UPDATE budget x SET usd = given.usd, action = given.action, warn_percent = given.warn_percent,
        max_usd_per_run = given.max_usd_per_run, assume_usd = given.assume_usd, time_zone = b.time_zone, week_starts = b.week_starts,
        former_time_zone = b.former_time_zone, former_week_starts = b.former_week_starts, zone_since = b.zone_since, updated_at = now()
    WHERE x.id = b.id RETURNING x.* INTO b;
    SELECT * INTO w FROM budget_period_at(b, now());
    IF w.starts_at <> was.starts_at AND NOT EXISTS (SELECT FROM budget_period y WHERE y.budget_id = b.id AND y.starts_at = w.starts_at) THEN
        PERFORM budget_count(b);
    END IF;
    SELECT y.* INTO p FROM budget_period y WHERE y.budget_id = b.id AND y.starts_at = w.starts_at FOR UPDATE;
    IF FOUND THEN
        DELETE FROM budget_notice n WHERE is_raised AND n.budget_id = b.id AND n.starts_at = p.starts_at
            AND NOT budget_passes(b.usd, budget_spent(p), n.percent);
        PERFORM budget_announce(b, p, false);
    END IF;
    RETURN b;
END $$;

-- Make the budget of a scope, target and period, or replace it. Violates budget_max and budget_time_zone.
CREATE OR REPLACE FUNCTION budget_put(account uuid, given jsonb, named_repo text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    g budget := jsonb_populate_record(NULL::budget, '{"action": "warn", "warn_percent": [50, 80, 100], "time_zone": "UTC", "week_starts": 1, "max_usd_per_run": 10}'
                                      || jsonb_strip_nulls(given) - 'repo');
    b budget;
BEGIN
    IF NOT time_zone_is_known(g.time_zone) THEN
        RAISE check_violation USING MESSAGE = 'the time zone is unknown', CONSTRAINT = 'budget_time_zone';
    END IF;
    g.usd := trim_scale(round(g.usd, 6));
    g.max_usd_per_run := trim_scale(round(g.max_usd_per_run, 6));
    g.assume_usd := trim_scale(round(g.assume_usd, 6));
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
        INSERT INTO budget (account_id, scope, target, repo, interest_id, period, usd, action, warn_percent, max_usd_per_run,
                            assume_usd, time_zone, week_starts, former_time_zone, former_week_starts)
        VALUES (account, g.scope, g.target, g.repo, g.interest_id, g.period, g.usd, g.action, g.warn_percent, g.max_usd_per_run,
                g.assume_usd, g.time_zone, g.week_starts, g.time_zone, g.week_starts)
        RETURNING * INTO b;
        PERFORM budget_count(b);
    END IF;
    RETURN budget_json(b);
END $$;

-- Remove a budget; whether there was one. The account is locked alone: whoever counts for the budget could otherwise begin a period of it
-- that violates the foreign key, or wait for the periods that go with it in a circle.
CREATE OR REPLACE FUNCTION budget_remove(account uuid, budget uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    DELETE FROM budget b WHERE b.account_id = account AND b.id = budget_remove.budget;
    RETURN FOUND;
END $$;

-- A period as the API shows it. `forecast_usd`: what is spent by its end at the pace so far, once a fifth of it is over.
CREATE OR REPLACE FUNCTION budget_period_json(b budget, starts_at timestamptz, ends_at timestamptz, p budget_period) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'starts_at', time_json(starts_at), 'ends_at', time_json(ends_at), 'spent_usd', s.spent,
        'reported_usd', coalesce(p.reported, 0), 'estimated_usd', coalesce(p.estimated, 0), 'assumed_usd', coalesce(p.assumed, 0),
        'reserved_usd', coalesce(p.reserved, 0), 'remaining_usd', greatest(b.usd - s.spent - coalesce(p.reserved, 0), 0),
        'over_usd', greatest(s.spent - b.usd, 0), 'percent', budget_percent(b.usd, s.spent),
        'runs', coalesce(p.runs, 0), 'runs_unknown', coalesce(p.runs_unknown, 0), 'refused', coalesce(p.refused, 0),
        'forecast_usd', CASE WHEN s.elapsed BETWEEN 0.2 AND 1 THEN trim_scale(round(s.spent / s.elapsed, 6)) END,
        'reached', budget_is_reached(b, p, s.spent), 'corrected_at', time_json(p.corrected_at))
    FROM (SELECT coalesce(budget_spent(p), 0),
                 extract(epoch FROM now() - starts_at) / extract(epoch FROM ends_at - starts_at)) AS s (spent, elapsed)
$$;

-- A budget as the API shows it.
CREATE OR REPLACE FUNCTION budget_json(b budget) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'budget_id', b.id, 'scope', b.scope, 'repo', b.repo, 'interest_id', b.interest_id, 'period', b.period, 'usd', b.usd,
        'action', b.action, 'warn_percent', to_jsonb(b.warn_percent), 'max_usd_per_run', b.max_usd_per_run, 'assume_usd', b.assume_usd,
        'time_zone', b.time_zone, 'week_starts', b.week_starts,
        'created_at', time_json(b.created_at), 'updated_at', time_json(b.updated_at),
        'state', budget_period_json(b, w.starts_at, w.ends_at, p) || jsonb_build_object(
            'time_zone', budget_zone(b), 'unguarded', (SELECT coalesce(jsonb_agg(u.repo ORDER BY u.repo), '[]') FROM budget_unguarded(b) u)))
    FROM budget_period_at(b, now()) AS w
    LEFT JOIN budget_period p ON p.budget_id = b.id AND p.starts_at = w.starts_at
$$;

-- What a key that is limited sees of a budget: of one that is not about its repository or interest alone, whether it is reached.
CREATE OR REPLACE FUNCTION budget_limited_json(b budget) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('budget_id', j -> 'budget_id', 'scope', b.scope, 'period', b.period,
                              'state', jsonb_build_object('reached', j #> '{state,reached}', 'ends_at', j #> '{state,ends_at}'))
    FROM budget_json(b) AS j
$$;

-- Take the budgets of a repository along when it is renamed, and what is reserved for its runs. Where both names have one of a period, that
-- of the new name stays.
CREATE OR REPLACE FUNCTION budgets_move(account uuid, old_name text, new_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    moved reservation[];
BEGIN
    moved := ARRAY(SELECT x FROM reservation x WHERE x.account_id = account AND x.repo_key = lower(old_name) AND x.state = 'held'
                   ORDER BY x.id FOR UPDATE);
    PERFORM budget_add(ARRAY(SELECT budget_part_of_reservation(x, -1) FROM unnest(moved) x));
    DELETE FROM budget b USING budget o
    WHERE b.account_id = account AND b.scope = 'repo' AND b.target = lower(old_name) AND o.account_id = account AND o.scope = 'repo'
      AND o.target = lower(new_name) AND o.period = b.period AND o.id <> b.id;
    UPDATE budget b SET target = lower(new_name), repo = new_name
    WHERE b.account_id = account AND b.scope = 'repo' AND b.target = lower(old_name);
    UPDATE reservation x SET repo_key = lower(new_name), repo = new_name WHERE x.account_id = account AND x.repo_key = lower(old_name);
    INSERT INTO admission AS a (account_id, repo_key, asked_at)
    SELECT account, lower(new_name), o.asked_at FROM admission o WHERE o.account_id = account AND o.repo_key = lower(old_name)
    ON CONFLICT (account_id, repo_key) DO UPDATE SET asked_at = greatest(a.asked_at, excluded.asked_at);
    DELETE FROM admission a WHERE a.account_id = account AND a.repo_key = lower(old_name) AND lower(old_name) <> lower(new_name);
    PERFORM budget_add(ARRAY(SELECT budget_part_of_reservation(x, 1) FROM reservation x WHERE x.id IN (SELECT m.id FROM unnest(moved) m)));
END $$;

-- Count the current period of a budget anew, and mend its figures where they differ: by how many USD. Nothing is told of runs that it is about
-- meanwhile.
CREATE OR REPLACE FUNCTION budget_recount(b budget) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    w record;
    counted record;
    drift_usd numeric;
BEGIN
    SELECT * INTO w FROM budget_period_at(b, now());
    SELECT * INTO counted FROM budget_period_count(b, w.starts_at, w.ends_at);
    SELECT abs(counted.reported + counted.estimated + counted.assumed - coalesce(sum(budget_spent(p)), 0))
           + abs(counted.reserved - coalesce(sum(p.reserved), 0)) INTO drift_usd
    FROM budget_period p WHERE p.budget_id = b.id AND p.starts_at = w.starts_at;
    INSERT INTO budget_period AS p (account_id, budget_id, starts_at, ends_at, reported, estimated, assumed, reserved, runs, runs_unknown)
    SELECT b.account_id, b.id, w.starts_at, w.ends_at, counted.reported, counted.estimated, counted.assumed, counted.reserved, counted.runs,
           counted.runs_unknown
    WHERE (counted.reported, counted.estimated, counted.assumed, counted.reserved, counted.runs) <> (0, 0, 0, 0, 0)
       OR EXISTS (SELECT FROM budget_period o WHERE o.budget_id = b.id AND o.starts_at = w.starts_at)
    ON CONFLICT (budget_id, starts_at) DO UPDATE SET reported = excluded.reported, estimated = excluded.estimated,
        assumed = excluded.assumed, reserved = excluded.reserved, runs = excluded.runs, runs_unknown = excluded.runs_unknown
    WHERE (p.reported, p.estimated, p.assumed, p.reserved, p.runs, p.runs_unknown)
          <> (excluded.reported, excluded.estimated, excluded.assumed, excluded.reserved, excluded.runs, excluded.runs_unknown);
    RETURN drift_usd;
END $$;

-- Count the budgets of a repository anew, each of which knew the runs of one of its two names.
CREATE OR REPLACE FUNCTION budgets_recount(account uuid, of_repo text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    b budget;
    p budget_period;
BEGIN
    FOR b IN SELECT x.* FROM budget x WHERE x.account_id = account AND x.scope = 'repo' AND x.target = of_repo ORDER BY x.id LOOP
        PERFORM budget_recount(b);
        SELECT y.* INTO p FROM budget_period y WHERE y.budget_id = b.id AND y.starts_at = (budget_period_at(b, now())).starts_at;
        PERFORM budget_announce(b, p, false) WHERE p.budget_id IS NOT NULL;
    END LOOP;
END $$;

-- Compare the figures of the current period of a budget with its runs, and mend them. The difference in USD; null: another process has
-- compared it, or it was deleted.
CREATE OR REPLACE FUNCTION budget_check(b budget) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(b.account_id, true);
    UPDATE budget x SET checked_at = now() WHERE x.id = b.id AND x.checked_at = b.checked_at RETURNING x.* INTO b;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN budget_recount(b);
END $$;

-- Whether a budget is to be checked: it was not in the last 20 hours.
CREATE OR REPLACE FUNCTION budget_is_due(b budget) RETURNS boolean LANGUAGE sql STABLE
RETURN b.checked_at < now() - interval '20 hours';

-- Check a budget. One that cannot be checked is left out until the next day.
--
--   is_done    false: another process has checked it, or it was deleted
--   lost_zone  its time zone, which exists no more
--   fault      why it could not be checked
CREATE OR REPLACE FUNCTION budget_check_due(budget uuid, OUT is_done boolean, OUT drift_usd numeric, OUT lost_zone text, OUT fault text)
LANGUAGE plpgsql AS $$
DECLARE
    b budget;
BEGIN
    SELECT x.* INTO b FROM budget x WHERE x.id = budget AND budget_is_due(x);
    is_done := FOUND;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    lost_zone := nullif(b.time_zone, zone_or_utc(b.time_zone));
    drift_usd := coalesce(budget_check(b), 0);
EXCEPTION
    WHEN deadlock_detected OR lock_not_available OR serialization_failure THEN
        RAISE;
    WHEN OTHERS THEN
        fault := SQLSTATE || ' ' || SQLERRM;
        UPDATE budget x SET checked_at = now() WHERE x.id = b.id;
END $$;
