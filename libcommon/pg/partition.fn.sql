-- Tables that are partitioned by time: a partition is named by its parent and the day or month, message_20261126, and is dropped whole.

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
