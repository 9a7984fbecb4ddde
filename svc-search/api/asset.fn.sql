-- Papers: how they are shown, and which version of one stays.

-- Whether the abstract or the comments say that the paper itself was withdrawn: "This paper has been withdrawn by the
-- authors", "Withdrawn.", "arXiv admin note: submission has been withdrawn by arXiv administrators"; not that something else
-- was, nor that it was withdrawn from a conference.
CREATE OR REPLACE FUNCTION is_withdrawal(words text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT words ~* '(withdr|retract)' AND words ~* (
        '(^|[.!?:;(\[]\s*)\W*((this|our|the present)\s+)(arxiv\s+)?(paper|article|manuscript|submission|work|preprint|e-?print'
        || '|version|letter|note|report|draft|thesis)\s+(has\s+been|have\s+been|had\s+been|was|is|is\s+being|is\s+now|has\s+now\s+been)'
        || '\s+(\w+ly\s+|now\s+)?(withdrawn|retracted)\M(?!\s+from\s+(?!the\s+arxiv|arxiv))'
        || '|\m(paper|article|manuscript|submission|preprint|e-?print)\s+((has|have)\s+been\s+|was\s+|is\s+)?(\w+ly\s+|temporarily\s+)?'
        || '(withdrawn|retracted|removed)\s+by\s+(the\s+|its\s+)?(author|arxiv)'
        || '|^\W*((this|the)\s+)?((paper|article|manuscript|submission|preprint)\s+)?(is\s+|was\s+|has\s+been\s+)?(withdrawn|retracted)'
        || '\s*($|[.,:;()\]!-]|(by|due|because|as|since|for|pending|until|from\s+arxiv)\M)'
        || '|\m(we|i|authors?|author\(s\))\s+(have|has|hereby|wish\s+to|would\s+like\s+to|decided\s+to|want\s+to)\s+(\w+\s+)?'
        || '(withdrawn|withdraw|retracted|retract)\s+(this|the\s+present|our|their|his|her)\s+'
        || '(paper|article|manuscript|submission|preprint|work)\M')
$$;

CREATE OR REPLACE FUNCTION is_withdrawn(a asset) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT is_withdrawal(a.abstract) OR coalesce(is_withdrawal(a.comments) OR a.comments ~* '\mwithdrawn\s+by\s+(the\s+)?(author|arxiv)', false)
$$;

-- A paper as lists show it, with its whole abstract: clients read it for models and look for links in it.
CREATE OR REPLACE FUNCTION asset_json(a asset) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', a.arxiv_id, 'title', a.title, 'abstract', a.abstract,
        'authors', to_jsonb(a.authors), 'categories', to_jsonb(a.categories),
        'source', paper_source(a.arxiv_id), 'doi', coalesce(a.doi, paper_doi(a.arxiv_id)), 'url', paper_url(a.arxiv_id),
        'published_at', time_json(a.published_at), 'updated_at', time_json(a.updated_at),
        'github_url', a.github_url, 'comments', a.comments, 'upvotes', a.upvotes, 'has_container', a.has_container,
        'container_image', a.container_image, 'container_status', a.container_status,
        'withdrawn', is_withdrawn(a))
$$;

-- A paper with all that is known of it.
CREATE OR REPLACE FUNCTION asset_detail_json(a asset) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT asset_json(a) || jsonb_build_object(
        'abstract', a.abstract, 'containerfile', a.containerfile, 'working_directory', a.working_directory,
        'environment_vars', a.environment_vars, 'license', a.license,
        'reference_summary', jsonb_build_object('total', a.reference_summary->'total',
                                                'classified', a.reference_summary->'classified',
                                                'by_class', a.reference_summary->'by_class'))
$$;

-- Whether `given` is the date (midnight) of the day of `stored`.
CREATE OR REPLACE FUNCTION is_date_of(given timestamptz, stored timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT given AT TIME ZONE 'UTC' = date_trunc('day', stored AT TIME ZONE 'UTC')
$$;

-- Whether a version of time `given` is older than the stored one. A date is as new as any time of its day; a version without
-- a time is never older.
CREATE OR REPLACE FUNCTION is_older(given timestamptz, stored timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(given < stored AND NOT is_date_of(given, stored), false)
$$;

-- The time to store: `given`, unless it is missing or only the date of the stored time.
CREATE OR REPLACE FUNCTION known_time(given timestamptz, stored timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN given IS NULL OR is_date_of(given, stored) THEN stored ELSE given END
$$;

-- A paper with the members of `patch` that can be changed.
CREATE OR REPLACE FUNCTION asset_patched(stored asset, patch jsonb) RETURNS asset LANGUAGE plpgsql STABLE AS $$
DECLARE
    read_only CONSTANT text[] := '{arxiv_id,is_deleted,change,added_at,has_container,upvotes,doi}';
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
