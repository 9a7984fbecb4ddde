-- The version of a paper that is newer at its source stays.

-- Whether `given` is the date (midnight) of the day of `stored`.
CREATE FUNCTION is_date_of(given timestamptz, stored timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT given AT TIME ZONE 'UTC' = date_trunc('day', stored AT TIME ZONE 'UTC')
$$;

-- Whether a version of time `given` is older than the stored one. A date is as new as any time of its day; a version without
-- a time is never older.
CREATE FUNCTION is_older(given timestamptz, stored timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(given < stored AND NOT is_date_of(given, stored), false)
$$;

-- The time to store: `given`, unless it is missing or only the date of the stored time.
CREATE FUNCTION known_time(given timestamptz, stored timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN given IS NULL OR is_date_of(given, stored) THEN stored ELSE given END
$$;

-- A paper with the members of `patch` that can be changed.
CREATE FUNCTION asset_patched(stored asset, patch jsonb) RETURNS asset LANGUAGE plpgsql STABLE AS $$
DECLARE
    read_only CONSTANT text[] := '{arxiv_id,is_deleted,change,added_at,has_container}';
    patched asset := jsonb_populate_record(stored, patch - read_only);
BEGIN
    IF is_date_of(patched.published_at, stored.published_at) THEN
        patched.published_at := stored.published_at;
    END IF;
    IF is_date_of(patched.updated_at, stored.updated_at) THEN
        patched.updated_at := stored.updated_at;
    END IF;
    RETURN patched;
END $$;
