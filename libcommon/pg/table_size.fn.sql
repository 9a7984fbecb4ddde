-- How large the tables of the schema are, and how old.

-- A table, or its partitions: first one that takes what no other takes, then the oldest first.
CREATE OR REPLACE FUNCTION table_leaves(name text) RETURNS SETOF regclass LANGUAGE sql STABLE AS $$
    SELECT x.leaf FROM (
        SELECT t.relid AS leaf FROM pg_partition_tree(to_regclass(quote_ident(name))) t WHERE t.isleaf
        UNION SELECT c.oid::regclass FROM pg_class c WHERE c.oid = to_regclass(quote_ident(name)) AND c.relkind = 'r') x
    ORDER BY x.leaf::text NOT LIKE '%\_default', x.leaf::text COLLATE "C"
$$;

-- The rows of a table. Those of a large one are estimated, from what ANALYZE found last, because counting reads all of them.
CREATE OR REPLACE FUNCTION table_rows(name text, OUT rows bigint, OUT is_estimate boolean) LANGUAGE plpgsql STABLE AS $$
DECLARE
    leaf regclass;
    part bigint;
BEGIN
    rows := 0;
    is_estimate := false;
    FOR leaf IN SELECT table_leaves(name) LOOP
        SELECT c.reltuples::bigint INTO part FROM pg_class c WHERE c.oid = leaf;
        IF part < 0 OR pg_relation_size(leaf) < 32 << 20 THEN
            EXECUTE format('SELECT count(*) FROM %s', leaf) INTO part;
        ELSE
            is_estimate := true;
        END IF;
        rows := rows + part;
    END LOOP;
END $$;

-- The time of a UUID of version 7 (RFC 9562, section 5.7).
CREATE OR REPLACE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE
RETURN to_timestamp(('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0);

-- The age of the oldest row by a column: a time, a date, or a UUID of version 7. Partitions are by time, so the first that has a row has
-- the oldest, or a default partition has it. Null: there is no row.
CREATE OR REPLACE FUNCTION table_oldest(name text, age text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    leaf regclass;
    found text;
    oldest timestamptz;
    is_uuid boolean := (SELECT a.atttypid = 'uuid'::regtype FROM pg_attribute a
                        WHERE a.attrelid = to_regclass(quote_ident(name)) AND a.attname = age);
BEGIN
    FOR leaf IN SELECT table_leaves(name) LOOP
        EXECUTE format('SELECT %1$I FROM %2$s WHERE %1$I IS NOT NULL ORDER BY %1$I LIMIT 1', age, leaf) INTO found;
        oldest := least(oldest, CASE WHEN is_uuid THEN uuid_v7_time(found::uuid) ELSE found::timestamptz END);
        EXIT WHEN found IS NOT NULL AND leaf::text NOT LIKE '%\_default';
    END LOOP;
    RETURN oldest;
END $$;

-- The tables of the schema with all their bytes: rows, indexes, large values, in all partitions.
CREATE OR REPLACE FUNCTION tables_of_schema() RETURNS TABLE (name text, bytes bigint) LANGUAGE sql STABLE AS $$
    SELECT c.relname::text,
           (SELECT coalesce(sum(pg_total_relation_size(leaf)), 0)::bigint FROM table_leaves(c.relname::text) AS leaf)
    FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
$$;
