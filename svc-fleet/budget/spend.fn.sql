-- What runs cost: as they told, as their tokens and the prices say, or as was reserved for them.
--
-- run.attempts has an object for each attempt of a run, by its number:
--
--   told               the members of its reports from which its spend follows
--   reported_at, older  their stamps, as those of a record (run_merge())
--   at                 when it began as far as is known without its reports, of a run with several; absent: when the run did
--   admitted           what its start said of it: {"assume_usd", "provider", "model", "interest_id"}; {"assume_usd", "is_unreserved"}: nothing
--                      was reserved for it, and a budget says what it counts; absent: none does
--   is_lost            nothing is expected of it any more
--   is_unbegun         it has ended before its agent began, unless a report of it comes
--   usd, basis, price_date  what follows; absent: it is unknown
--
-- An estimate is made once: a list of prices that changes later does not change it, unless spend_reprice() is asked to.

-- The members of a report from which a spend follows, and the period in which it counts.
CREATE OR REPLACE FUNCTION spend_members(report jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN RETURN (
    SELECT coalesce(jsonb_object_agg(m.name, report -> m.name), '{}')
    FROM unnest('{cost_usd,provider,model,status,started_at,finished_at,input_tokens,output_tokens,cache_read_input_tokens,
                  cache_write_input_tokens}'::text[]) AS m (name)
    WHERE report ? m.name);
END $$;

-- Whether a run that ends with this word has ended before its agent began.
CREATE OR REPLACE FUNCTION spend_is_free(status text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN status IN ('skipped_no_candidates', 'skipped_budget', 'aborted_impossible_pair', 'aborted_model_key_missing',
                  'aborted_no_such_paper', 'aborted_not_admitted', 'choose_failed', 'fetch_failed', 'install_failed');

-- What an attempt cost that told this. A cost that is not believed is as none.
CREATE OR REPLACE FUNCTION spend_of(told jsonb, started_at timestamptz, OUT usd numeric, OUT basis text, OUT price_date date)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    p price;
BEGIN
    usd := cost_believed((told ->> 'cost_usd')::numeric);
    IF usd IS NULL AND spend_is_free(told ->> 'status') THEN
        usd := 0;
    END IF;
    IF usd IS NOT NULL THEN
        basis := 'reported';
    ELSIF told ?& '{provider,model,input_tokens,output_tokens}' THEN
        p := price_find(told ->> 'provider', told ->> 'model', (started_at AT TIME ZONE 'UTC')::date);
        usd := cost_believed(price_usd(p, told));
        IF usd IS NOT NULL THEN
            basis := 'estimated';
            price_date := p.checked;
        END IF;
    END IF;
END $$;

-- What a run's tokens cost by the list, and when the price was checked; null: it told no tokens, or the list has no price.
CREATE OR REPLACE FUNCTION spend_estimate(r run, OUT usd numeric, OUT price_date date) LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT s.usd, s.price_date INTO usd, price_date FROM spend_of(r.record - 'cost_usd', r.at) s WHERE s.basis = 'estimated';
END $$;

-- Whether an attempt has ended, as far as it told.
CREATE OR REPLACE FUNCTION spend_is_final(attempt jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN attempt ?| '{is_lost,is_unbegun}'
    OR outcome_kind(attempt #>> '{told,status}', coalesce(attempt -> 'told' ? 'finished_at', false)) <> 'running';

-- When an attempt of a run began. `run_at` is when the run did: that of its last attempt, as far as that has told it.
CREATE OR REPLACE FUNCTION spend_at(attempt jsonb, run_at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce((attempt #>> '{told,started_at}')::timestamptz, (attempt ->> 'at')::timestamptz, run_at);

-- Whether a run has other attempts than the first, which may have begun on other days than the run.
CREATE OR REPLACE FUNCTION spend_is_repeated(attempts jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(attempts - '1' <> '{}', false);

-- What a run that began in a period has spent in it: without the attempts that began at other times.
CREATE OR REPLACE FUNCTION spend_between(r run, from_time timestamptz, to_time timestamptz) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT CASE WHEN spend_is_repeated(r.attempts)
                THEN (SELECT sum((a.value ->> 'usd')::numeric) FROM jsonb_each(r.attempts) AS a
                      WHERE spend_at(a.value, r.at) >= from_time AND spend_at(a.value, r.at) < to_time)
                ELSE r.spend_usd END);
END $$;

-- The attempts of a run, before another one is added: they began when the run did, unless they say otherwise.
CREATE OR REPLACE FUNCTION spend_dated(attempts jsonb, run_at timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_object_agg(a.key, jsonb_build_object('at', run_at) || a.value), '{}') FROM jsonb_each(attempts) AS a
$$;

-- An attempt with what follows from what it told. One that has ended without a known spend counts what its start says.
CREATE OR REPLACE FUNCTION spend_attempt(attempt jsonb, started_at timestamptz) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    admitted jsonb := coalesce(attempt -> 'admitted', '{}');
    s record;
BEGIN
    SELECT * INTO s FROM spend_of(admitted - 'assume_usd' || (attempt -> 'told'), started_at);
    IF attempt ? 'is_unbegun' AND (attempt -> 'told') - 'started_at' = '{}' THEN
        s.usd := 0;
        s.basis := 'reported';
    ELSIF s.usd IS NULL AND admitted ? 'assume_usd' AND spend_is_final(attempt) THEN
        s.usd := admitted ->> 'assume_usd';
        s.basis := 'assumed';
    END IF;
    RETURN attempt - '{usd,basis,price_date}'::text[] || jsonb_strip_nulls(to_jsonb(s));
END $$;

-- A run with the sums over its attempts; most runs have one.
CREATE OR REPLACE FUNCTION spend_sum(r run) RETURNS run LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT spend_is_repeated(r.attempts) THEN
        r.spend_usd := r.attempts #>> '{1,usd}';
        r.price_date := r.attempts #>> '{1,price_date}';
        r.spend_basis := r.attempts #>> '{1,basis}';
        RETURN r;
    END IF;
    SELECT sum((a.value ->> 'usd')::numeric), max((a.value ->> 'price_date')::date),
           CASE WHEN bool_or(a.value ->> 'basis' = 'assumed') THEN 'assumed'
                WHEN bool_or(a.value ->> 'basis' = 'estimated') THEN 'estimated'
                WHEN bool_or(a.value ? 'basis') THEN 'reported' END
    INTO r.spend_usd, r.price_date, r.spend_basis FROM jsonb_each(r.attempts) AS a;
    RETURN r;
END $$;

-- The interest that a run is of, as its starts say.
CREATE OR REPLACE FUNCTION spend_interest(attempts jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF NOT spend_is_repeated(attempts) THEN
        RETURN attempts #>> '{1,admitted,interest_id}';
    END IF;
    RETURN (SELECT a.value #>> '{admitted,interest_id}' FROM jsonb_each(attempts) AS a
            WHERE a.value #> '{admitted,interest_id}' IS NOT NULL ORDER BY a.key::int DESC LIMIT 1);
END $$;

-- The interest in whose budgets a run counts: the one that it has told only if that is borne out, as any key of a repository may tell
-- any.
CREATE OR REPLACE FUNCTION spend_budget_interest(r run) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN r.interest_is_proved IS FALSE THEN spend_interest(r.attempts) ELSE r.interest_id END
$$;

-- The attempts of a run as they follow from its record, for one that was stored before there were any.
CREATE OR REPLACE FUNCTION spend_attempts(r run) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(r.attempts, jsonb_build_object('1', spend_attempt(
        jsonb_build_object('told', spend_members(r.record), 'reported_at', r.reported_at), coalesce(r.at, r.first_at))))
$$;

-- A run after a report of one of its attempts, before the report is merged into its record.
CREATE OR REPLACE FUNCTION spend_add(r run, report jsonb, stamp bigint) RETURNS run LANGUAGE plpgsql STABLE AS $$
DECLARE
    number text := coalesce(report ->> 'run_attempt', '1');
    part jsonb := spend_members(report);
    attempt jsonb;
    is_estimated boolean := false; -- by these tokens already
    m record;
BEGIN
    IF part = '{}' THEN
        RETURN r;
    END IF;
    r := run_told_interest(r, report ->> 'interest_id');
    r.attempts := CASE WHEN r.record IS NULL THEN '{}' ELSE spend_attempts(r) END;
    attempt := r.attempts -> number;
    IF attempt IS NULL THEN
        attempt := jsonb_build_object('told', part, 'reported_at', stamp) || reservation_admitted(r, number);
        IF r.attempts <> '{}' THEN
            r.attempts := spend_dated(r.attempts, coalesce(r.at, r.first_at));
            attempt := jsonb_build_object('at', coalesce((reservation_of(r.account_id, r.repo_key, r.run_id, number::int)).made_at,
                                                         clock_timestamp())) || attempt;
        END IF;
    ELSE
        m := run_merge(attempt -> 'told', (attempt ->> 'reported_at')::bigint, nullif(attempt -> 'older', 'null'), part, stamp);
        IF m.merged = attempt -> 'told' AND m.newest = (attempt ->> 'reported_at')::bigint THEN
            RETURN r;
        END IF;
        is_estimated := attempt @> '{"basis": "estimated"}'
                        AND m.merged - '{status,started_at,finished_at}'::text[]
                            = (attempt -> 'told') - '{status,started_at,finished_at}'::text[];
        attempt := attempt || jsonb_build_object('told', m.merged, 'reported_at', m.newest, 'older', m.stamps)
            || CASE WHEN attempt ? 'admitted' AND NOT attempt @> '{"admitted": {"is_unreserved": true}}' THEN '{}' ELSE reservation_admitted(r, number) END;
    END IF;
    IF NOT is_estimated THEN
        attempt := spend_attempt(attempt, spend_at(attempt, coalesce(r.at, r.first_at)));
    END IF;
    r.attempts := jsonb_set(r.attempts, ARRAY[number], attempt);
    RETURN spend_sum(r);
END $$;

-- Whether an attempt is to be estimated again, among those that began on a day or later.
CREATE OR REPLACE FUNCTION spend_is_repriced(attempt jsonb, run_at timestamptz, since date) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(attempt ->> 'basis' = 'estimated' AND spend_at(attempt, run_at) >= since, false);

-- Runs that have an estimate and of which an attempt began on a day or later, 500 of them, those behind a run in the order of their ids: that
-- of the only index that has all of them. A run that was first heard of more than 32 days before is not read: the code host runs none again
-- after 30.
CREATE OR REPLACE FUNCTION spend_estimated(since date, last_id uuid) RETURNS SETOF run LANGUAGE sql STABLE AS $$
    SELECT x.* FROM run x
    WHERE x.spend_basis IN ('estimated', 'assumed') AND x.first_at >= since - interval '32 days'
      AND EXISTS (SELECT FROM jsonb_each(x.attempts) AS a WHERE spend_is_repriced(a.value, x.at, since))
      AND x.id > coalesce(last_id, '00000000-0000-0000-0000-000000000000')
    ORDER BY x.id LIMIT 500
$$;

-- Estimate again what runs cost that began on a day or later, 500 of them, those behind a run, and move the differences in budgets. How
-- many had an estimate, how many of these changed, and the last one; null: there are none.
CREATE OR REPLACE FUNCTION spend_reprice(since date, INOUT last_at timestamptz, INOUT last_id uuid, OUT runs bigint, OUT changed bigint)
LANGUAGE plpgsql AS $$
DECLARE
    page run[] := ARRAY(SELECT x FROM spend_estimated(since, last_id) x);
    account uuid;
    r run;
    was run;
    changes run_change[] := '{}';
BEGIN
    FOR account IN SELECT DISTINCT p.account_id FROM unnest(page) p ORDER BY 1 LOOP
        PERFORM account_lock(account, false);
    END LOOP;
    FOR r IN SELECT x.* FROM unnest(page) p JOIN run x ON x.id = p.id AND x.first_at = p.first_at
             ORDER BY x.account_id, x.repo_key, x.run_id #>> '{}' FOR UPDATE OF x LOOP
        was := r;
        SELECT jsonb_object_agg(a.key, CASE WHEN spend_is_repriced(a.value, r.at, since) THEN spend_attempt(a.value, spend_at(a.value, r.at))
                                            ELSE a.value END)
        INTO r.attempts FROM jsonb_each(r.attempts) AS a;
        CONTINUE WHEN r.attempts IS NOT DISTINCT FROM was.attempts;
        r := spend_sum(r);
        changes := changes || (was, r)::run_change;
        UPDATE run x SET attempts = r.attempts, spend_usd = r.spend_usd, spend_basis = r.spend_basis, price_date = r.price_date,
            changed_at = clock_timestamp()
        WHERE x.id = r.id AND x.first_at = r.first_at;
    END LOOP;
    PERFORM budget_period_add(changes) WHERE cardinality(changes) > 0;
    runs := cardinality(page);
    changed := cardinality(changes);
    last_at := (page[runs]).first_at;
    last_id := (page[runs]).id;
END $$;
