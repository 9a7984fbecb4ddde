-- How old rows of a table go (retained_table.h).

-- Delete up to `most` rows `t` of a table that is not partitioned, of which the condition is true; in it, $1 are the days. Does not wait
-- longer than a second for the table. Returns how many were deleted.
--
--   by_index  an index has the rows: the planner, which cannot know how few they are, is not to read the table
CREATE OR REPLACE FUNCTION table_delete_old(name text, condition text, days int, most int, by_index boolean) RETURNS bigint LANGUAGE plpgsql
SET lock_timeout = '1s' SET enable_seqscan = on AS $$
DECLARE
    deleted bigint;
BEGIN
    IF by_index THEN
        SET LOCAL enable_seqscan = off;
    END IF;
    EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM %1$I t WHERE %2$s LIMIT $2 FOR UPDATE OF t SKIP LOCKED))',
                   name, condition) USING days, most;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
