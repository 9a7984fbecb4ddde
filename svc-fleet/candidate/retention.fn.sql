-- How long is kept what runs looked at.

-- Delete papers that runs passed over, the oldest first; those that they chose stay as long as the run. How many.
CREATE OR REPLACE FUNCTION rejections_forget(days int, batch int) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH old AS (
        SELECT c.run, c.arxiv_id FROM candidate c
        WHERE c.gate IS NOT NULL AND c.first_at < now() - make_interval(days => days)
        ORDER BY c.first_at LIMIT batch FOR UPDATE SKIP LOCKED
    )
    DELETE FROM candidate c USING old WHERE c.run = old.run AND c.arxiv_id = old.arxiv_id;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;

-- Drop the details of runs of the months that ended so many days ago. Does not wait longer than a second for the table, for which all who
-- report would wait. How many months.
CREATE OR REPLACE FUNCTION run_details_drop(days int) RETURNS int LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    first_kept text := to_char((now() AT TIME ZONE 'UTC')::date - days, 'YYYYMM');
    dropped int := 0;
    period text;
BEGIN
    FOR period IN SELECT p FROM partition_periods('run_detail') p WHERE p < first_kept LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I', 'run_detail_' || period);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
