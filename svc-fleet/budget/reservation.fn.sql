-- Reservations: the money of runs that were started and of which the spend is not known yet.
--
-- A start is admitted and its money reserved in one transaction, which locks the budgets that are about it in the order of their ids; so
-- starts at the same time see each other. The transaction that stores a run's end replaces the reservation by the spend. What is neither
-- settled nor released expires, so nothing is reserved for ever.

-- What a start is answered.
CREATE OR REPLACE FUNCTION reservation_json(x reservation) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('allowed', true, 'max_usd', x.max_usd, 'reservation_id', x.id)
$$;

-- The reservation of an attempt of a run; null: there is none.
CREATE OR REPLACE FUNCTION reservation_of(account uuid, of_repo text, of_run jsonb, attempt int) RETURNS reservation LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT x FROM reservation x
    WHERE x.account_id = account AND x.repo_key = of_repo AND x.run_id #>> '{}' = of_run #>> '{}' AND x.run_attempt = attempt
    ORDER BY x.made_at DESC, x.id DESC LIMIT 1);
END $$;

-- What is known of an attempt of a run by its reservation, as a member of the attempt (spend.fn.sql); without one, what the budgets that are
-- about the run say of such of unknown cost.
CREATE OR REPLACE FUNCTION reservation_admitted(r run, attempt text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    x reservation := reservation_of(r.account_id, r.repo_key, r.run_id, attempt::int);
    assume_usd numeric;
BEGIN
    IF x.id IS NULL THEN
        SELECT min(b.assume_usd) INTO assume_usd FROM budget b WHERE b.account_id = r.account_id AND budget_has(b, r.repo_key, spend_budget_interest(r));
        RETURN CASE WHEN assume_usd IS NULL THEN '{}' ELSE jsonb_build_object('admitted', jsonb_build_object(
            'assume_usd', assume_usd, 'is_unreserved', true)) END;
    END IF;
    RETURN jsonb_build_object('admitted', jsonb_strip_nulls(jsonb_build_object(
        'assume_usd', x.assume_usd, 'provider', x.provider, 'model', x.model, 'interest_id', x.interest_id)));
END $$;

-- What follows for an attempt from the end of its run at the code host, as a member of the attempt (spend.fn.sql): one that was ended before
-- it asked whether its agent may begin, as the code host does with runs that wait when another is started, has cost nothing. Nothing
-- follows where the workflow is of a version that does not ask.
CREATE OR REPLACE FUNCTION reservation_unbegun(r run, x reservation) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE WHEN r.host_state = 'ended' AND r.host_outcome IN ('cancelled', 'skipped', 'stale', 'startup_failure')
                     AND x.state = 'held' AND x.asked_at IS NULL AND repo_asks(r.account_id, r.repo_key)
                THEN '{"is_unbegun": true}' ELSE '{}' END;
END $$;

-- A run that has ended at the code host, with the attempts that follow from that.
CREATE OR REPLACE FUNCTION run_host_ended(r run) RETURNS run LANGUAGE plpgsql STABLE AS $$
DECLARE
    x reservation;
    part jsonb;
BEGIN
    FOR x IN SELECT y.* FROM reservation y WHERE y.account_id = r.account_id AND y.repo_key = r.repo_key
                                             AND y.run_id #>> '{}' = r.run_id #>> '{}' AND y.state = 'held' LOOP
        part := reservation_unbegun(r, x);
        r := CASE WHEN part <> '{}' THEN run_attempt_derive(r, x, part) ELSE r END;
    END LOOP;
    RETURN r;
END $$;

-- Settle what is reserved for runs of which an attempt has ended. One that ended at the code host without a report soon expires, as a
-- report may be on its way. Those that are settled.
CREATE OR REPLACE FUNCTION reservations_settle(changes run_change[]) RETURNS SETOF reservation LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE reservation x SET expires_at = least(x.expires_at, now() + interval '10 minutes')
    FROM unnest(changes) c
    WHERE x.account_id = (c.became).account_id AND x.repo_key = (c.became).repo_key
      AND x.run_id #>> '{}' = (c.became).run_id #>> '{}' AND x.state = 'held'
      AND (c.became).host_state = 'ended' AND (c.was).host_state IS DISTINCT FROM 'ended';
    RETURN QUERY
        UPDATE reservation x SET state = 'settled' FROM unnest(changes) c
        WHERE x.account_id = (c.became).account_id AND x.repo_key = (c.became).repo_key
          AND x.run_id #>> '{}' = (c.became).run_id #>> '{}' AND x.state = 'held'
          AND spend_is_final((c.became).attempts -> x.run_attempt::text)
        RETURNING x.*;
END $$;

-- A run with the spend of an attempt derived anew after what no report told of it: `part`.
CREATE OR REPLACE FUNCTION run_attempt_derive(r run, x reservation, part jsonb) RETURNS run LANGUAGE plpgsql STABLE AS $$
DECLARE
    number text := x.run_attempt;
    began_at timestamptz := coalesce(r.at, r.first_at);
    attempt jsonb;
BEGIN
    r.attempts := spend_attempts(r);
    IF NOT r.attempts ? number THEN
        r.attempts := spend_dated(r.attempts, began_at)
            || jsonb_build_object(number, jsonb_build_object('told', '{}'::jsonb, 'reported_at', 0, 'at', x.made_at));
    END IF;
    attempt := r.attempts -> number || reservation_admitted(r, number) || part;
    r.attempts := jsonb_set(r.attempts, ARRAY[number], spend_attempt(attempt, spend_at(attempt, began_at)));
    RETURN run_derive(spend_sum(r));
END $$;

-- Derive and store it. Nothing is done unless the run is known.
CREATE OR REPLACE FUNCTION run_attempt_change(x reservation, part jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r run;
    was run;
BEGIN
    SELECT f.* INTO r FROM run_key k JOIN run f ON f.id = k.id AND f.first_at = k.first_at
    WHERE k.account_id = x.account_id AND k.repo_key = x.repo_key AND k.run_key = x.run_id #>> '{}' FOR UPDATE OF f;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    was := r;
    r := run_attempt_derive(r, x, reservation_unbegun(r, x) || part);
    r.changed_at := CASE WHEN r IS DISTINCT FROM was THEN clock_timestamp() ELSE r.changed_at END;
    PERFORM runs_store(ARRAY[(was, r)::run_change]);
END $$;

-- The budgets that are about a start, in the order of their ids. Other starts wait for them until the transaction ends.
CREATE OR REPLACE FUNCTION budgets_lock(account uuid, of_repo text, of_interest uuid) RETURNS budget[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(SELECT b FROM budget b WHERE b.account_id = account AND budget_has(b, of_repo, of_interest::text)
                 ORDER BY b.id FOR NO KEY UPDATE);
END $$;

-- What is left of a budget in its current period; below 0 if more is spent and reserved.
CREATE OR REPLACE FUNCTION budget_room(b budget) RETURNS numeric LANGUAGE sql STABLE AS $$
    SELECT b.usd - coalesce((SELECT budget_spent(p) + p.reserved FROM budget_period p
                             WHERE p.budget_id = b.id AND p.starts_at = (budget_period_at(b, now())).starts_at), 0)
$$;

-- The dearest of the last 20 runs of an agent on a repository that have a known cost: those with the model, if it is named and there are
-- any; null: there is none. Runs that cost nothing did not come to their agent. The greatest and not the mean, as a mean is passed by half
-- of the runs. Only those of the repository, whose key says what they cost: it would say what others reserve. Its last 2,000 runs are read.
CREATE OR REPLACE FUNCTION run_dearest(account uuid, of_repo text, of_agent text, of_model text, OUT usd numeric, OUT run_id jsonb)
LANGUAGE sql STABLE AS $$
    WITH last AS MATERIALIZED (
        SELECT o.run_id, o.spend_usd, o.at, o.id, o.record ->> 'model' = of_model AS has_model
        FROM (SELECT r.* FROM (
                  SELECT a.run_id, a.spend_usd, a.spend_basis, a.agent, a.at, a.id, a.record FROM run a
                  WHERE a.account_id = account AND a.repo_key = of_repo
                  ORDER BY a.at DESC, a.id DESC LIMIT 2000) r
              WHERE r.agent = of_agent AND r.spend_usd > 0 AND r.spend_basis <> 'assumed'
              ORDER BY r.at DESC, r.id DESC LIMIT 200) o
    )
    SELECT x.spend_usd, x.run_id
    FROM (SELECT l.* FROM last l WHERE l.has_model OR NOT EXISTS (SELECT FROM last o WHERE o.has_model)
          ORDER BY l.at DESC, l.id DESC LIMIT 20) x
    ORDER BY x.spend_usd DESC, x.at DESC, x.id DESC LIMIT 1
$$;

-- Whether the list says that the model costs nothing. A model that it does not have costs something.
CREATE OR REPLACE FUNCTION model_is_free(of_provider text, of_model text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(greatest(p.input, p.cache_write, p.cache_read, p.output) = 0, false)
    FROM price_find(of_provider, of_model, (now() AT TIME ZONE 'UTC')::date) AS p
$$;

-- Count a refused start, and tell of the first one of the period.
CREATE OR REPLACE FUNCTION budget_refuse(b budget) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p budget_period;
BEGIN
    INSERT INTO budget_period AS y (account_id, budget_id, starts_at, ends_at, refused)
    SELECT b.account_id, b.id, w.starts_at, w.ends_at, 1 FROM budget_period_at(b, now()) AS w
    ON CONFLICT (budget_id, starts_at) DO UPDATE SET refused = y.refused + 1
    RETURNING y.* INTO p;
    PERFORM budget_announce(b, p, true);
END $$;

-- An amount as sentences have it.
CREATE OR REPLACE FUNCTION usd_text(usd numeric) RETURNS text LANGUAGE sql IMMUTABLE RETURN to_char(usd, 'FM9999990.00');

-- When a period of a budget ends, in words.
CREATE OR REPLACE FUNCTION budget_end_text(b budget, ends_at timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN to_char(ends_at AT TIME ZONE budget_zone(b), CASE b.period WHEN 'month' THEN 'FMDD FMMonth HH24:MI' ELSE 'FMDay HH24:MI' END)
    || ' ' || budget_zone(b);

-- What has to be left of a budget for a start that may cost so much: all of it, and for an agent that obeys a limit a dollar, as a limit below
-- fails before the agent has done anything.
CREATE OR REPLACE FUNCTION budget_needed(usd numeric, obeys_max_usd boolean) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN CASE WHEN obeys_max_usd THEN 1 ELSE usd END;

-- Whether too little is left of a budget for a start that may cost so much.
CREATE OR REPLACE FUNCTION budget_refuses(b budget, usd numeric, obeys_max_usd boolean) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT b.action = 'stop' AND budget_room(b) < budget_needed(usd, obeys_max_usd)
$$;

-- Why a start is refused: a budget, with its figures only if the caller may see them, by the `limits` of its key. The run that says what
-- it needs can be one that did not cost that, and is named for who may take it out.
CREATE OR REPLACE FUNCTION start_refusal(b budget, x reservation, obeys_max_usd boolean, limits jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    w record;
    p budget_period;
    shows_figures boolean := limits IS NULL
        OR (b.scope <> 'account' AND budget_has(b, repository_key(limits ->> 'repo'), limits ->> 'interest_id'));
    shows_run boolean := NOT obeys_max_usd AND (limits IS NULL OR coalesce(repository_key(limits ->> 'repo') = x.repo_key, false));
    during text := CASE b.period WHEN 'day' THEN 'today' ELSE 'this ' || b.period END;
    about text := CASE b.scope WHEN 'repo' THEN ' on ' || b.repo WHEN 'interest' THEN ' for the interest' ELSE '' END;
    named jsonb := jsonb_build_object('budget_id', b.id, 'scope', b.scope, 'target', coalesce(b.repo, b.interest_id::text), 'period', b.period);
    anew text := 'The whole budget is too small for one.';
BEGIN
    SELECT * INTO w FROM budget_period_at(b, now());
    SELECT y.* INTO p FROM budget_period y WHERE y.budget_id = b.id AND y.starts_at = w.starts_at;
    named := named || jsonb_build_object('ends_at', time_json(w.ends_at));
    IF budget_needed(x.amount_usd, obeys_max_usd) <= b.usd THEN
        anew := 'Begins anew on ' || budget_end_text(b, w.ends_at) || '.';
    END IF;
    IF NOT shows_figures THEN
        RETURN jsonb_build_object('allowed', false, 'budget', named,
                                  'detail', 'The budget of the account for ' || during || ' is reached. ' || anew);
    END IF;
    RETURN jsonb_build_object(
        'allowed', false,
        'budget', named || jsonb_build_object('usd', b.usd, 'spent_usd', budget_spent(p), 'reserved_usd', p.reserved,
                                              'needed_usd', x.amount_usd),
        'detail', 'USD ' || usd_text(budget_spent(p)) || ' of ' || usd_text(b.usd) || ' spent ' || during || about || ', '
                  || usd_text(p.reserved) || ' reserved; a run needs up to ' || usd_text(x.amount_usd)
                  || coalesce((SELECT ', as run ' || run_id_text(d.run_id) || ' cost'
                               FROM run_dearest(x.account_id, x.repo_key, x.agent, x.model) d WHERE shows_run), '') || '. ' || anew);
END $$;

-- A reservation with its amounts by the budgets that are about it, before what is left of them is looked at. An agent that obeys a limit
-- may use max_usd_per_run; one that does not is as dear as it was on the repository.
CREATE OR REPLACE FUNCTION reservation_sized(x reservation, budgets budget[], obeys_max_usd boolean) RETURNS reservation LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT min(b.max_usd_per_run), min(b.assume_usd) INTO x.max_usd, x.assume_usd FROM unnest(budgets) b;
    x.amount_usd := CASE WHEN model_is_free(x.provider, x.model) THEN 0
                         WHEN obeys_max_usd THEN x.max_usd
                         ELSE coalesce((SELECT d.usd FROM run_dearest(x.account_id, x.repo_key, x.agent, x.model) d), x.max_usd) END;
    RETURN x;
END $$;

-- How long a start is held that is no run yet: longer than the longest pause of a task that makes it (RETRY_AFTER_MAX_MS of
-- libcommon/task/job_run.c), which asks again before each try.
CREATE OR REPLACE FUNCTION start_hold() RETURNS interval LANGUAGE sql IMMUTABLE RETURN interval '90 minutes';

-- Store a reservation, or hold one of its key again that was released. A run that asks for itself follows it, and settles it if the attempt
-- has ended before its question came; that is before the budgets, whose periods are locked after the sums of runs (run/telemetry.fn.sql).
CREATE OR REPLACE FUNCTION reservation_hold(x reservation) RETURNS reservation LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reservation AS y (account_id, key, repo_key, repo, interest_id, agent, provider, model, amount_usd, max_usd, assume_usd,
                                  is_over_budget, run_id, run_attempt, asked_at, expires_at)
    VALUES (x.account_id, x.key, x.repo_key, x.repo, x.interest_id, x.agent, x.provider, x.model, x.amount_usd, x.max_usd,
            coalesce(x.assume_usd, x.amount_usd), x.is_over_budget, x.run_id, coalesce(x.run_attempt, 1),
            CASE WHEN x.run_id IS NOT NULL THEN now() END, -- the run asks for itself
            now() + CASE WHEN x.run_id IS NULL THEN start_hold() ELSE interval '3 hours' END)
    ON CONFLICT (account_id, key) DO UPDATE SET
        state = 'held', made_at = now(), expires_at = excluded.expires_at, repo_key = excluded.repo_key, repo = excluded.repo,
        interest_id = excluded.interest_id, agent = excluded.agent, provider = excluded.provider, model = excluded.model,
        amount_usd = excluded.amount_usd, max_usd = excluded.max_usd, assume_usd = excluded.assume_usd,
        is_over_budget = excluded.is_over_budget, run_id = excluded.run_id,
        asked_at = excluded.asked_at
    RETURNING y.* INTO x;
    PERFORM run_attempt_change(x, '{}') WHERE x.run_id IS NOT NULL;
    PERFORM budget_add(ARRAY[budget_part_of_reservation(x, 1)]);
    RETURN x;
END $$;

-- Reserve what a run may cost, unless a budget has too little left. What is held for the key already stays, for as long as a new one
-- would. `given`:
--
--     {"key": "trigger 0197…", "repo": "acme/ranker", "interest_id", "agent", "provider", "model", "run_id", "run_attempt",
--      "obeys_max_usd": true, "is_agent_named": true, "over_budget": false, "limits": {"repo", "interest_id"}}
--
--   is_agent_named  false: agent and provider are those of the installation, by which the amount goes. The run may be of another agent, as
--                   long as the workflow on the default branch has that, so they are not stored
--   over_budget  it starts whatever is left, also when it is asked for again
--   limits       of the key that asks, if it has any
-- The answer: {"allowed": true, "max_usd", "reservation_id"}, both null without a budget; or {"allowed": false, "detail", "budget"}.
CREATE OR REPLACE FUNCTION run_reserve(account uuid, given jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    x reservation := jsonb_populate_record(NULL::reservation, given);
    obeys boolean := coalesce((given ->> 'obeys_max_usd')::boolean, false);
    limits jsonb := nullif(given -> 'limits', 'null');
    budgets budget[];
    earlier reservation;
    room numeric; -- null: no budget stops it
    spent budget[]; -- those that have too little left
    tightest budget;
    b budget;
BEGIN
    x.repo := repository_hold(x.repo);
    x.repo_key := lower(x.repo);
    x.account_id := account;
    PERFORM account_admit(account);
    budgets := budgets_lock(account, x.repo_key, x.interest_id);
    IF cardinality(budgets) = 0 THEN
        RETURN '{"allowed": true, "max_usd": null, "reservation_id": null}';
    END IF;
    UPDATE reservation y SET expires_at = now() + start_hold()
    WHERE y.account_id = account AND y.key = x.key AND y.state = 'held' AND y.run_id IS NULL RETURNING y.* INTO earlier;
    IF NOT FOUND THEN
        SELECT y.* INTO earlier FROM reservation y WHERE y.account_id = account AND y.key = x.key;
    END IF;
    IF earlier.state <> 'released' THEN
        RETURN reservation_json(earlier);
    END IF;
    x.is_over_budget := coalesce((given ->> 'over_budget')::boolean, false) OR coalesce(earlier.is_over_budget, false);
    x := reservation_sized(x, budgets, obeys);
    IF x.amount_usd > 0 AND NOT x.is_over_budget THEN
        spent := ARRAY(SELECT s FROM unnest(budgets) s WHERE budget_refuses(s, x.amount_usd, obeys) ORDER BY s.id);
        IF cardinality(spent) > 0 THEN
            PERFORM budget_periods_lock(spent, ARRAY[now()]); -- before any is announced, which locks the inbox
            FOREACH b IN ARRAY spent LOOP
                PERFORM budget_refuse(b);
            END LOOP;
            SELECT s.* INTO tightest FROM unnest(spent) s -- one that is too small as a whole refuses in the next period, too
            ORDER BY budget_needed(x.amount_usd, obeys) <= s.usd, budget_room(s), s.id LIMIT 1;
            RETURN start_refusal(tightest, x, obeys, limits);
        END IF;
        SELECT min(budget_room(s)) INTO room FROM unnest(budgets) s WHERE s.action = 'stop';
        x.amount_usd := CASE WHEN obeys THEN least(x.amount_usd, room) ELSE x.amount_usd END;
        x.max_usd := CASE WHEN obeys THEN x.amount_usd ELSE x.max_usd END;
    END IF;
    IF given -> 'is_agent_named' = 'false' THEN
        x.agent := NULL;
        x.provider := NULL;
    END IF;
    RETURN reservation_json(reservation_hold(x));
END $$;

-- A start has become a run. Another reservation of the run, which the run asked for itself, stays instead.
CREATE OR REPLACE FUNCTION reservation_attach(account uuid, of_key text, run jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    x reservation;
BEGIN
    IF run IS NULL THEN -- the code host has not named it: its reservation ends as that of a run that does not appear
        RETURN;
    END IF;
    PERFORM account_admit(account);
    SELECT y.* INTO x FROM reservation y WHERE y.account_id = account AND y.key = of_key AND y.state = 'held' AND y.run_id IS NULL;
    IF NOT FOUND OR (reservation_of(account, x.repo_key, run, x.run_attempt)).id IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM FROM run_key k JOIN run r ON r.id = k.id AND r.first_at = k.first_at
    WHERE k.account_id = account AND k.repo_key = x.repo_key AND k.run_key = run #>> '{}' FOR UPDATE OF r;
    UPDATE reservation y SET run_id = run, expires_at = now() + interval '3 hours'
    WHERE y.id = x.id AND y.state = 'held' AND y.run_id IS NULL RETURNING y.* INTO x;
    IF FOUND THEN
        PERFORM run_attempt_change(x, '{}');
    END IF;
END $$;

-- Give back what is reserved. Who calls it holds the row.
CREATE OR REPLACE FUNCTION reservation_free(of_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    x reservation;
BEGIN
    UPDATE reservation y SET state = 'released' WHERE y.id = of_id AND y.state = 'held' RETURNING y.* INTO x;
    IF FOUND THEN
        PERFORM budget_add(ARRAY[budget_part_of_reservation(x, -1)]);
    END IF;
END $$;

-- Whether a budget that is about a reservation has begun another period since it was made.
CREATE OR REPLACE FUNCTION reservation_is_old(x reservation) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM budget b, budget_period_at(b, x.made_at) AS former, budget_period_at(b, now()) AS present
                   WHERE b.account_id = x.account_id AND budget_has(b, x.repo_key, x.interest_id::text)
                     AND former.starts_at <> present.starts_at)
$$;

-- A start came to nothing. One that has become a run is not released.
CREATE OR REPLACE FUNCTION reservation_release(account uuid, of_key text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held uuid;
BEGIN
    PERFORM account_admit(account);
    -- A statement of its own: one that also calls a function for the row does that before it locks the row.
    SELECT y.id INTO held FROM reservation y WHERE y.account_id = account AND y.key = of_key AND y.run_id IS NULL FOR UPDATE;
    IF FOUND THEN
        PERFORM reservation_free(held);
    END IF;
END $$;

-- Release what is reserved for a run that is removed.
CREATE OR REPLACE FUNCTION reservations_drop(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    dropped budget_part[];
BEGIN
    WITH released AS (
        UPDATE reservation x SET state = 'released'
        WHERE x.account_id = r.account_id AND x.repo_key = r.repo_key AND x.run_id #>> '{}' = r.run_id #>> '{}' AND x.state = 'held'
        RETURNING x)
    SELECT array_agg(budget_part_of_reservation(d.x, -1)) INTO dropped FROM released d;
    PERFORM budget_add(dropped) WHERE dropped IS NOT NULL;
END $$;

-- The run of a reservation is not heard of any more: what it cost is assumed.
CREATE OR REPLACE FUNCTION reservation_give_up(x reservation) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM run_key k WHERE k.account_id = x.account_id AND k.repo_key = x.repo_key AND k.run_key = x.run_id #>> '{}') THEN
        PERFORM runs_update(jsonb_build_array(jsonb_build_object(
            'account', x.account_id, 'repo', x.repo, 'run_id', x.run_id,
            'report', jsonb_strip_nulls(jsonb_build_object(
                'status', 'failed', 'error', 'the run has not reported its end', 'started_at', time_json(x.made_at), 'agent', x.agent,
                'provider', x.provider, 'model', x.model, 'interest_id', x.interest_id)))));
    END IF;
    PERFORM run_attempt_change(x, '{"is_lost": true}');
END $$;

-- Let a reservation expire. One without a run is released, unless its start has asked again meanwhile. One whose run goes on at the code
-- host is renewed, for a day at most, as the code host ends jobs before.
CREATE OR REPLACE FUNCTION reservation_expire(x reservation) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r run;
BEGIN
    PERFORM account_admit(x.account_id);
    IF x.run_id IS NULL THEN
        PERFORM FROM reservation y WHERE y.id = x.id AND y.run_id IS NULL AND y.expires_at <= now() FOR UPDATE;
        IF FOUND THEN
            PERFORM reservation_free(x.id);
        END IF;
        RETURN;
    END IF;
    SELECT f.* INTO r FROM run_find(x.account_id, x.repo_key, x.run_id, NULL) f;
    UPDATE reservation y SET expires_at = now() + interval '3 hours'
    WHERE y.id = x.id AND r.host_state = 'running' AND y.made_at > now() - interval '1 day';
    IF NOT FOUND THEN
        PERFORM reservation_give_up(x);
    END IF;
END $$;

-- Let a reservation expire. One that cannot is tried again after an hour.
--
--   is_done  false: it is not due any more
--   fault    why it could not expire
CREATE OR REPLACE FUNCTION reservation_expire_due(reservation uuid, OUT is_done boolean, OUT fault text) LANGUAGE plpgsql AS $$
DECLARE
    x reservation;
BEGIN
    SELECT y.* INTO x FROM reservation y WHERE y.id = reservation AND y.state = 'held' AND y.expires_at <= now();
    is_done := FOUND;
    IF FOUND THEN
        PERFORM reservation_expire(x);
    END IF;
EXCEPTION
    WHEN deadlock_detected OR lock_not_available OR serialization_failure THEN
        RAISE;
    WHEN OTHERS THEN
        fault := SQLSTATE || ' ' || SQLERRM;
        PERFORM reservation_leave_out(reservation);
END $$;

-- Try again after an hour to let a reservation expire.
CREATE OR REPLACE FUNCTION reservation_leave_out(reservation uuid) RETURNS void LANGUAGE sql AS $$
    UPDATE reservation y SET expires_at = now() + interval '1 hour' WHERE y.id = reservation_leave_out.reservation AND y.state = 'held'
$$;
