-- What migrations leave to be done after them, a batch a transaction (fill.h).

-- Do the next batch of the oldest fill that is not finished and that nobody else is at: at most `most` rows. Does not wait for a lock of
-- others for as long as they would wait for its own. Its name, how many rows it has seen to, and whether it is finished; null: there is
-- none.
CREATE OR REPLACE FUNCTION fill_step(most int, OUT name text, OUT rows bigint, OUT is_finished boolean) LANGUAGE plpgsql
SET lock_timeout = '200ms' AS $$
DECLARE
    f fill;
    reached text;
    seen int;
BEGIN
    SELECT * INTO f FROM fill x WHERE x.finished_at IS NULL ORDER BY x.made_at, x.name LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    EXECUTE format('SELECT f.reached, f.seen FROM %I($1, $2) f', 'fill_' || f.name) INTO reached, seen USING f.cursor, most;
    name := f.name;
    rows := f.rows + seen;
    is_finished := reached IS NULL;
    UPDATE fill x SET cursor = coalesce(reached, x.cursor), rows = fill_step.rows,
                      finished_at = CASE WHEN is_finished THEN clock_timestamp() END
    WHERE x.name = f.name;
END $$;

-- Behind which a fill has yet to see to the rows; null: it is finished, or there was nothing to do.
CREATE OR REPLACE FUNCTION fill_cursor(fill text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT f.cursor FROM fill f WHERE f.name = fill_cursor.fill AND f.finished_at IS NULL);
END $$;
