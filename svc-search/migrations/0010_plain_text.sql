-- Papers are shown and indexed without the markup of LaTeX and HTML (plain/plain_text.h), and say when they were withdrawn.

-- The texts as their source has them; null: as they are shown.
ALTER TABLE asset ADD COLUMN source_title text;
ALTER TABLE asset ADD COLUMN source_abstract text;
ALTER TABLE asset ADD COLUMN source_authors text[];
-- PLAIN_TEXT_VERSION of what made the shown texts; 0: before these columns.
ALTER TABLE asset ADD COLUMN text_version smallint NOT NULL DEFAULT 0;
-- What the authors say beside the abstract: "12 pages, 5 figures".
ALTER TABLE asset ADD COLUMN comments text;

-- Whether there can be something to convert.
CREATE FUNCTION has_markup(title text, abstract text, authors text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    texts CONSTANT text := title || ' ' || abstract || ' ' || array_to_string(authors, ' ');
BEGIN
    RETURN texts ~ '[\\${&~`]|--' OR (octet_length(texts) > char_length(texts) AND texts IS NOT NFC NORMALIZED);
END $$;

-- Papers of before, which a replica converts one by one (ingest/conversion.h).
CREATE INDEX asset_text_stale ON asset (arxiv_id) WHERE text_version < 1 AND has_markup(title, abstract, authors);

-- Whether the abstract or the comments say that the paper itself was withdrawn: "This paper has been withdrawn by the
-- authors", "Withdrawn.", "arXiv admin note: submission has been withdrawn by arXiv administrators"; not that something else
-- was, nor that it was withdrawn from a conference.
CREATE FUNCTION is_withdrawal(words text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
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

CREATE FUNCTION is_withdrawn(a asset) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT is_withdrawal(a.abstract) OR coalesce(is_withdrawal(a.comments) OR a.comments ~* '\mwithdrawn\s+by\s+(the\s+)?(author|arxiv)', false)
$$;

CREATE OR REPLACE FUNCTION asset_json(a asset) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', a.arxiv_id, 'title', a.title, 'abstract', a.abstract,
        'authors', to_jsonb(a.authors), 'categories', to_jsonb(a.categories),
        'url', 'https://arxiv.org/abs/' || a.arxiv_id,
        'published_at', time_json(a.published_at), 'updated_at', time_json(a.updated_at),
        'github_url', a.github_url, 'has_container', a.has_container,
        'container_image', a.container_image, 'container_status', a.container_status,
        'withdrawn', is_withdrawn(a))
$$;
