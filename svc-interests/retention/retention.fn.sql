-- How recommendations and explanations go (retention.h).

-- The least id of version 7 (RFC 9562, section 5.7) of a time, to compare others with. No id is of a time before 1970.
CREATE OR REPLACE FUNCTION uuid_v7_first(at timestamptz) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT (lpad(to_hex(greatest((extract(epoch FROM at) * 1000)::bigint, 0)), 12, '0') || '70008000000000000000')::uuid
$$;

CREATE OR REPLACE FUNCTION month_first_id(month date) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT uuid_v7_first(month::timestamp AT TIME ZONE 'UTC')
$$;

-- The first month that the default partition of explanations does not take, of its constraint before_202701; null: it takes all, or is gone.
CREATE OR REPLACE FUNCTION explanation_bound(OUT month date, OUT is_valid boolean) LANGUAGE sql STABLE AS $$
    SELECT to_date(right(conname, 6), 'YYYYMM'), convalidated FROM pg_constraint
    WHERE conrelid = to_regclass('recommendation_explanation_default') AND conname LIKE 'before\_%'
$$;

-- Prepare the default partition for months beside it: give it a bound, the month after the next, then check its rows against it, without
-- which Postgres would do that under a lock that all wait for when a month is added. Each is a statement of its own, because the second
-- reads the whole table and hinders nobody only while it holds no lock of the first. Whether there was something to do.
CREATE OR REPLACE FUNCTION explanation_default_prepare() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    bound record;
    month date := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months';
BEGIN
    SELECT * INTO bound FROM explanation_bound();
    IF to_regclass('recommendation_explanation_default') IS NULL OR bound.is_valid THEN
        RETURN false;
    END IF;
    PERFORM set_config('lock_timeout', '1s', true);
    IF bound.month IS NULL THEN
        EXECUTE format('ALTER TABLE recommendation_explanation_default ADD CONSTRAINT %I CHECK (recommendation_id < %L) NOT VALID',
                       to_char(month, '"before_"YYYYMM'), month_first_id(month));
    ELSE
        EXECUTE format('ALTER TABLE recommendation_explanation_default VALIDATE CONSTRAINT %I', to_char(bound.month, '"before_"YYYYMM'));
    END IF;
    RETURN true;
END $$;

-- Add this month and the next two; drop those that ended before the last `days`. Does not wait longer than a second for the tables, for
-- which all inserts would wait. Returns how many were dropped.
CREATE OR REPLACE FUNCTION explanation_months_keep(days int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    parents    text[] := ARRAY['recommendation_explanation'];
    this_month date := date_trunc('month', now() AT TIME ZONE 'UTC');
    first_kept date := date_trunc('month', (now() AT TIME ZONE 'UTC')::date - days);
    bound      date := (SELECT b.month FROM explanation_bound() b);
    month      date;
    dropped    int := 0;
BEGIN
    PERFORM set_config('lock_timeout', '1s', true);
    FOR month IN SELECT m FROM generate_series(this_month, this_month + interval '2 months', interval '1 month') m
                 WHERE bound IS NULL OR m >= bound
    LOOP
        PERFORM partition_add(parents, partition_period('month', month), month_first_id(month)::text,
                              month_first_id((month + interval '1 month')::date)::text);
    END LOOP;
    IF bound <= first_kept THEN
        DROP TABLE recommendation_explanation_default;
        dropped := 1;
    END IF;
    RETURN dropped + partitions_drop(parents, 'month', first_kept);
END $$;

-- Those of these recommendations that nobody has made use of: without feedback, from which models learn, and whose paper neither an
-- experiment of the account is about nor a run of its agents was for, of which they are evidence.
CREATE OR REPLACE FUNCTION recommendations_unused(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
    SELECT r.id FROM recommendation r
    WHERE r.id = ANY (ids)
      AND NOT EXISTS (SELECT FROM feedback f WHERE f.recommendation_id = r.id)
      AND NOT EXISTS (SELECT FROM experiment_paper p WHERE p.account_id = r.account_id AND p.arxiv_id = r.arxiv_id)
      AND NOT EXISTS (SELECT FROM run_outcome o WHERE o.recommendation_id = r.id AND o.account_id = r.account_id)
      AND NOT EXISTS (SELECT FROM run_outcome o WHERE o.interest_id = r.interest_id AND o.arxiv_id = r.arxiv_id AND o.account_id = r.account_id)
$$;

-- Delete the unused of at most `most` recommendations with ids behind `after` and of before the last `days`. Their rows are locked first:
-- only then can no feedback come any more, and is it seen by the statement that deletes. Those that stay are not even locked, which would
-- write each of them in each pass. The last id that was looked at, null: there is none; and how many were deleted.
CREATE OR REPLACE FUNCTION recommendations_delete_old(after uuid, days int, most int, OUT last_id uuid, OUT deleted int)
LANGUAGE plpgsql AS $$
DECLARE
    old    uuid[] := ARRAY(SELECT id FROM recommendation
                           WHERE id > after AND id < uuid_v7_first(now() - days * interval '1 day')
                           ORDER BY id LIMIT most);
    locked uuid[] := ARRAY(SELECT r.id FROM recommendation r JOIN recommendations_unused(old) AS unused (id) USING (id)
                           ORDER BY r.id FOR UPDATE OF r);
BEGIN
    last_id := old[cardinality(old)];
    WITH gone AS (
        DELETE FROM recommendation r WHERE r.id IN (SELECT recommendations_unused(locked))
        RETURNING r.*
    )
    INSERT INTO former_recommendation (interest_id, arxiv_id, context_version, account_id, recommendation_id)
    SELECT interest_id, arxiv_id, context_version, account_id, id FROM gone
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS deleted = ROW_COUNT;
END $$;
