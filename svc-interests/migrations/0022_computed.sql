-- The context_version for which recommendations were last computed, whether any were found or not; null: never.
ALTER TABLE interest ADD COLUMN computed_for integer;
UPDATE interest SET computed_for = context_version WHERE last_recommendation_at IS NOT NULL;

-- Why a digest has nothing for an interest; null: its recommendations were computed.
CREATE FUNCTION interest_waits_for(i interest) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT 'No recommendations have been computed for this interest yet: ' || CASE i.pool_status
        WHEN 'ready' THEN 'that is done once a day, or at once by a refresh.'
        WHEN 'failed' THEN 'the search for its papers has failed.'
        ELSE 'its papers are being searched for.' END
    WHERE i.computed_for IS DISTINCT FROM i.context_version
$$;
