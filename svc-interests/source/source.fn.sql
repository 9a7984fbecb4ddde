-- An interest's context with the texts that its addresses lead to.
CREATE OR REPLACE FUNCTION interest_context(i interest) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT i.context || coalesce(
        (SELECT string_agg(E'\n\n' || coalesce(s.title || E'\n', '') || s.body, '' ORDER BY s.place, s.url)
         FROM context_source s WHERE s.interest_id = i.id AND s.body <> ''), '')
$$;

-- What the context of an interest leads to. In PL/pgSQL, so that the statement that calls it has none of the table in its own plan:
-- setting that up took longer than all else, and most interests have no rows there.
CREATE OR REPLACE FUNCTION interest_sources_json(interest uuid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT jsonb_agg(jsonb_build_object(
        'url', s.url, 'kind', s.kind, 'status', s.status, 'title', s.title, 'characters', s.characters,
        'read_at', time_json(s.read_at), 'error', s.error) ORDER BY s.place, s.url)
        FROM context_source s WHERE s.interest_id = interest), '[]');
END $$;

-- Whether an interest is nothing but a repository that could not be read.
CREATE OR REPLACE FUNCTION interest_is_unread(i interest) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT coalesce(i.context = i.source_repo_url, false)
       AND NOT EXISTS (SELECT FROM context_source s WHERE s.interest_id = i.id AND s.status = 'read'));
END $$;

-- The name of an interest that was made of a repository alone: the last part of its address, or all of it where that names nothing.
CREATE OR REPLACE FUNCTION repository_title(url text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN left(coalesce(
    nullif(regexp_replace(rtrim(split_part(split_part(url, '?', 1), '#', 1), '/'), '^.*/|[.]git$', '', 'g'), ''), url), 200);
