-- Tables that are partitioned by time: a partition is named by its parent and the day or month, message_20261126, and is dropped whole.

-- How names of partitions write the day or the month (`unit`) that a date is in.
CREATE OR REPLACE FUNCTION partition_period(unit text, day date) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(day, CASE unit WHEN 'day' THEN 'YYYYMMDD' WHEN 'month' THEN 'YYYYMM' END);

-- Add a partition to each of the parents, from `low` on and below `high`, unless the last has it. Attaching a table does not wait for
-- inserts into others, as creating a partition would.
CREATE OR REPLACE FUNCTION partition_add(parents text[], period text, low text, high text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    newest text := parents[cardinality(parents)] || '_' || period;
BEGIN
    IF to_regclass(newest) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parents[1]); -- one at a time
    IF to_regclass(newest) IS NOT NULL THEN
        RETURN;
    END IF;
    FOREACH parent IN ARRAY parents LOOP
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', parent || '_' || period, parent);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, parent || '_' || period, low, high);
    END LOOP;
END $$;

-- The periods of a table's partitions, the oldest first; not that of a default partition.
CREATE OR REPLACE FUNCTION partition_periods(parent text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT right(c.relname, -length(parent) - 1) COLLATE "C"
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass(parent) AND c.relname ~ '_[0-9]+$'
    ORDER BY 1
$$;

-- Add the day or the month that a date is in to tables that are partitioned by a date.
CREATE OR REPLACE FUNCTION partition_add_date(parents text[], unit text, day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    low date := date_trunc(unit, day::timestamp);
BEGIN
    PERFORM partition_add(parents, partition_period(unit, low), low::text, (low + ('1 ' || unit)::interval)::date::text);
END $$;

-- The days or months of a table's partitions before that of `first_kept`.
CREATE OR REPLACE FUNCTION partition_periods_before(parent text, unit text, first_kept date) RETURNS SETOF text LANGUAGE sql STABLE
AS $$
    SELECT p FROM partition_periods(parent) p WHERE p < partition_period(unit, first_kept)
$$;

-- Drop the days or months before that of `first_kept`, each of all parents at once. Returns how many.
CREATE OR REPLACE FUNCTION partitions_drop(parents text[], unit text, first_kept date) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    dropped int := 0;
    period  text;
BEGIN
    FOR period IN SELECT * FROM partition_periods_before(parents[1], unit, first_kept) LOOP
        EXECUTE 'DROP TABLE IF EXISTS ' || (SELECT string_agg(format('%I', parent || '_' || period), ', ') FROM unnest(parents) AS parent);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

-- Keep tables that are partitioned by a date as they should be: add today's day or month and `ahead` more, drop those before that of
-- `first_kept`. Does not wait longer than a second for the tables, for which all inserts would wait; this limit ends with the transaction.
-- Returns how many days or months were dropped.
CREATE OR REPLACE FUNCTION partitions_keep(parents text[], unit text, ahead int, first_kept date) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    step  interval := ('1 ' || unit)::interval;
    first timestamp := date_trunc(unit, now() AT TIME ZONE 'UTC');
BEGIN
    PERFORM set_config('lock_timeout', '1s', true);
    PERFORM partition_add_date(parents, unit, day::date) FROM generate_series(first, first + ahead * step, step) AS day;
    RETURN partitions_drop(parents, unit, first_kept);
END $$;
