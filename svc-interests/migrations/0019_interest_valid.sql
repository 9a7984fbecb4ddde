-- The rules of an interest as one constraint, as those of a task are (common_0049_task_valid).
CREATE FUNCTION interest_is_valid(i interest) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN char_length(i.name) BETWEEN 1 AND 200 AND octet_length(i.name) <= 800
       AND char_length(i.context) BETWEEN 1 AND 50000
       AND i.daily_count BETWEEN 1 AND 50
       AND i.pool_status IN ('building', 'ready', 'stale', 'failed');
END $$;

ALTER TABLE interest
    DROP CONSTRAINT interest_name_check,
    DROP CONSTRAINT interest_name_bytes,
    DROP CONSTRAINT interest_context_check,
    DROP CONSTRAINT interest_daily_count_check,
    DROP CONSTRAINT interest_pool_status_check,
    ADD CONSTRAINT interest_valid CHECK (interest_is_valid(interest)) NOT VALID;
