-- How old rows of a table go (retained_table.h).

-- Delete up to `most` rows `t` of a table that is not partitioned, of which the condition is true; in it, $1 are the days. Finds them by an
-- index where one serves, though the planner cannot know how few they are. Does not wait longer than a second for the table. How many were
-- deleted.
CREATE OR REPLACE FUNCTION table_delete_old(name text, condition text, days int, most int) RETURNS bigint LANGUAGE plpgsql
SET lock_timeout = '1s' SET enable_seqscan = off AS $$
DECLARE
    deleted bigint;
BEGIN
    EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM %1$I t WHERE %2$s LIMIT $2 FOR UPDATE OF t SKIP LOCKED))',
                   name, condition) USING days, most;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
