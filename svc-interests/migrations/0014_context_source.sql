-- What the addresses of an interest lead to: those in its context, and source_repo_url. It is read by the job that builds the
-- pool and before a refresh (source/source.h).
--
--   place       order in which the interest names them
--   body        what was read, at most 8 KiB; empty for a paper, whose abstract svc-search has
--   characters  of the text, before it was cut
--   tried_at    last; read_at: when the body was read
--   error       of the last try, a sentence; null: it could be read
CREATE TABLE context_source (
    interest_id uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    url         text NOT NULL CHECK (octet_length(url) <= 2048),
    place       integer NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('paper', 'repository', 'page')),
    status      text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'read', 'failed', 'refused')),
    title       text,
    body        text NOT NULL DEFAULT '',
    characters  integer,
    tried_at    timestamptz,
    read_at     timestamptz,
    error       text,
    PRIMARY KEY (interest_id, url)
);

CREATE FUNCTION context_sources_json(interest uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'url', s.url, 'kind', s.kind, 'status', s.status, 'title', s.title, 'characters', s.characters,
        'read_at', time_json(s.read_at), 'error', s.error) ORDER BY s.place, s.url), '[]')
    FROM context_source s WHERE s.interest_id = interest
$$;

-- An interest's context with the texts that its addresses lead to.
CREATE FUNCTION interest_context(i interest) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT i.context || coalesce(
        (SELECT string_agg(E'\n\n' || coalesce(s.title || E'\n', '') || s.body, '' ORDER BY s.place, s.url)
         FROM context_source s WHERE s.interest_id = i.id AND s.body <> ''), '')
$$;

-- Whether an interest is nothing but a repository that could not be read.
CREATE FUNCTION interest_is_unread(i interest) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(i.context = i.source_repo_url, false)
       AND NOT EXISTS (SELECT FROM context_source s WHERE s.interest_id = i.id AND s.status = 'read')
$$;

-- The name of an interest that was made of a repository alone: the last part of its address.
CREATE FUNCTION repository_title(url text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN left(regexp_replace(rtrim(split_part(split_part(url, '?', 1), '#', 1), '/'), '^.*/|[.]git$', '', 'g'), 200);
