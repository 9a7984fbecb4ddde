-- Admission: a run asks before its agent begins, so that runs that were started elsewhere reserve, too (reservation.fn.sql).
-- And which repositories have runs that do not ask.

-- Whether what is reserved is for a run like this: of the agent, provider and model, as far as the start has named them, and of the
-- interest, in whose budgets it counts. What a run of another model or interest costs was not looked at, and nobody has let it pass a
-- budget.
CREATE OR REPLACE FUNCTION reservation_fits(x reservation, asked reservation) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT (x.agent <> asked.agent) IS NOT TRUE AND (x.provider <> asked.provider) IS NOT TRUE
       AND (x.model IS NULL OR x.model IS NOT DISTINCT FROM asked.model)
       AND (asked.interest_id IS NULL OR x.interest_id IS NOT DISTINCT FROM asked.interest_id)
$$;

-- Whether a run of the agent that asks may cost more than was reserved by a start that named no agent: that was for the agent of the
-- installation, and the workflow on the default branch may have the one before it. What was reserved for the same agent is not sized
-- again: nothing is refused that was let start.
CREATE OR REPLACE FUNCTION reservation_is_small(x reservation, given jsonb) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    obeys boolean := coalesce((given ->> 'obeys_max_usd')::boolean, false);
    budgets budget[];
BEGIN
    IF x.agent IS NOT NULL
       OR EXISTS (SELECT FROM installation n
                  WHERE n.account_id = x.account_id AND n.repo_key = x.repo_key
                    AND n.agent = given ->> 'agent' AND n.provider IS NOT DISTINCT FROM given ->> 'provider') THEN
        RETURN false;
    END IF;
    budgets := ARRAY(SELECT b FROM budget b WHERE b.account_id = x.account_id AND budget_has(b, x.repo_key, x.interest_id::text));
    x.agent := given ->> 'agent';
    x.provider := given ->> 'provider';
    x.model := given ->> 'model';
    RETURN coalesce(CASE WHEN obeys THEN x.max_usd ELSE (reservation_sized(x, budgets, false)).amount_usd END > x.amount_usd, false);
END $$;

-- The newest start of a repository that is no run yet, and fits, is this run; null: there is none.
CREATE OR REPLACE FUNCTION reservation_take(asked reservation) RETURNS reservation LANGUAGE plpgsql AS $$
DECLARE
    x reservation;
BEGIN
    UPDATE reservation y SET run_id = asked.run_id, expires_at = now() + interval '3 hours', provider = coalesce(asked.provider, y.provider),
        model = coalesce(asked.model, y.model)
    WHERE y.id = (SELECT f.id FROM reservation f
                  WHERE f.account_id = asked.account_id AND f.repo_key = asked.repo_key AND f.state = 'held' AND f.run_id IS NULL
                    AND f.expires_at > now() AND reservation_fits(f, asked)
                  ORDER BY f.made_at DESC, f.id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING y.* INTO x;
    IF FOUND THEN
        PERFORM run_attempt_change(x, '{}');
    END IF;
    RETURN x;
END $$;

-- What is reserved for a run that asks. A reservation counts in the period in which its run begins, so one of a former period is made
-- anew, and refused if the new one has too little left; so is one that does not fit its run after all, or is too small for its agent. The
-- run is of the agent that asks where the start has named none. What both lock is locked here before, in the order of
-- run/telemetry.fn.sql: the sums of the repository's runs, the reservation, and the former and the present period of all budgets
-- together.
CREATE OR REPLACE FUNCTION reservation_admit(x reservation, given jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    fits boolean := reservation_fits(x, jsonb_populate_record(NULL::reservation, given));
BEGIN
    IF x.state = 'held' AND x.asked_at IS NULL AND (reservation_is_old(x) OR NOT fits OR reservation_is_small(x, given)) THEN
        PERFORM FROM run_repo s WHERE s.account_id = x.account_id AND s.repo_key = x.repo_key FOR UPDATE;
        PERFORM FROM reservation y WHERE y.id = x.id FOR UPDATE;
        PERFORM budget_periods_lock(ARRAY(
            SELECT b FROM budget b
            WHERE b.account_id = x.account_id AND (budget_has(b, x.repo_key, x.interest_id::text) OR budget_has(b, x.repo_key, given ->> 'interest_id'))),
            ARRAY[x.made_at, now()]);
        PERFORM reservation_free(x.id);
        UPDATE reservation y SET is_over_budget = false WHERE y.id = x.id AND NOT fits;
        RETURN run_reserve(x.account_id, given || jsonb_build_object(
            'key', x.key, 'interest_id', coalesce(nullif(given -> 'interest_id', 'null'), to_jsonb(x.interest_id))));
    END IF;
    UPDATE reservation y SET asked_at = now() WHERE y.id = x.id AND y.asked_at IS NULL;
    IF x.agent IS NULL THEN
        UPDATE reservation y SET agent = given ->> 'agent', provider = given ->> 'provider', model = coalesce(y.model, given ->> 'model')
        WHERE y.id = x.id RETURNING y.* INTO x;
        PERFORM run_attempt_change(x, '{}');
    END IF;
    RETURN reservation_json(x);
END $$;

-- Admit an attempt of a run that asks before its agent begins. It gets what is reserved for it, else the newest reservation of the repository
-- that is no run yet, else a new one, under the key of the attempt. `given` as for run_reserve(), without `key`. Violates admission_max: a
-- key that was stolen could reserve all that is left to others, and the workflow runs once at a time in a repository.
--
-- The questions of a repository are taken one after the other, before the run is locked: the first may come to lock it only when it is known.
-- Budgets of all interests are locked, as what is reserved may be of another one than the run says.
CREATE OR REPLACE FUNCTION run_admit(account uuid, given jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    asked reservation := jsonb_populate_record(NULL::reservation, given);
    x reservation;
BEGIN
    asked.account_id := account;
    asked.repo_key := lower(repository_hold(asked.repo));
    PERFORM account_admit(account);
    INSERT INTO admission (account_id, repo_key) VALUES (account, asked.repo_key)
    ON CONFLICT (account_id, repo_key) DO UPDATE SET asked_at = excluded.asked_at;
    PERFORM FROM run_key k JOIN run r ON r.id = k.id AND r.first_at = k.first_at
    WHERE k.account_id = account AND k.repo_key = asked.repo_key AND k.run_key = asked.run_id #>> '{}' FOR UPDATE OF r;
    PERFORM FROM budget b
    WHERE b.account_id = account AND (b.scope = 'interest' OR budget_has(b, asked.repo_key, NULL)) ORDER BY b.id FOR NO KEY UPDATE;
    x := reservation_of(account, asked.repo_key, asked.run_id, asked.run_attempt);
    IF x.id IS NULL AND asked.run_attempt = 1 THEN
        x := reservation_take(asked);
    END IF;
    IF x.state IN ('held', 'settled') THEN
        RETURN reservation_admit(x, given);
    END IF;
    IF (SELECT count(*) FROM reservation y WHERE y.account_id = account AND y.repo_key = asked.repo_key AND y.state = 'held'
                                             AND starts_with(y.key, 'run ')) >= 10 THEN
        RAISE check_violation USING MESSAGE = 'too many admissions', CONSTRAINT = 'admission_max';
    END IF;
    RETURN run_reserve(account, given || jsonb_build_object(
        'key', concat_ws(' ', 'run', asked.repo_key, asked.run_id #>> '{}', asked.run_attempt)));
END $$;

-- Whether a run of the repository has asked in the last 30 days.
CREATE OR REPLACE FUNCTION repo_asks(account uuid, of_repo text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM admission a
                   WHERE a.account_id = account AND a.repo_key = of_repo AND a.asked_at > now() - interval '30 days')
$$;

-- Whether a run has ended whose agent has begun, as far as the run tells: one that has not come so far has asked nothing.
CREATE OR REPLACE FUNCTION run_had_agent(r run) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT r.outcome_kind <> 'running' AND NOT coalesce(spend_is_free(r.status), false)
           AND (r.spend_basis IS DISTINCT FROM 'assumed' OR r.attempts @? '$.*.admitted.is_unreserved')
           AND NOT run_is_lost(r)
$$;

-- Whether the end of a run shows that budgets which stop runs do not stop those of its repository.
CREATE OR REPLACE FUNCTION run_is_unguarded(r run) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM budget b WHERE b.account_id = r.account_id AND b.action = 'stop' AND budget_has(b, r.repo_key, spend_budget_interest(r)))
        AND run_had_agent(r) AND NOT repo_asks(r.account_id, r.repo_key);
END $$;

-- The repositories of a budget whose workflow does not ask, as its file is of an earlier version, and when an agent last began there.
CREATE OR REPLACE FUNCTION budget_unguarded(b budget) RETURNS TABLE (repo text, at timestamptz) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
        SELECT i.repo, last.at
        FROM (SELECT DISTINCT ON (x.repo_key) x.repo_key, x.repo FROM installation x
              WHERE x.account_id = b.account_id AND x.status = 'active' AND budget_has(b, x.repo_key, x.interest_id::text)
              ORDER BY x.repo_key, x.id) i,
             LATERAL (SELECT r.at FROM run r
                      WHERE r.account_id = b.account_id AND r.repo_key = i.repo_key AND r.at > now() - interval '30 days' AND run_had_agent(r)
                      ORDER BY r.at DESC, r.id DESC LIMIT 1) last
        WHERE NOT repo_asks(b.account_id, i.repo_key);
END $$;
