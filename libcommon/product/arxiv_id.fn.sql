-- The ids of papers: of arXiv 2205.14135, or of the form before 2007 math/0309136, without version and subject class, at most 24
-- bytes; of other sources the name of the source and the DOI, biorxiv:10.1101/2026.11.20.123456, at most 64 bytes.

-- The id that a text names, however it is written: bare, `arXiv:`, or an address of the paper's abstract, PDF or HTML. NULL: it
-- names none.
CREATE OR REPLACE FUNCTION arxiv_id_of(written text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    id text;
    part text[];
BEGIN
    IF octet_length(written) IN (9, 10) AND strpos(written, '.') = 5 AND translate(written, '0123456789', '') = '.' THEN
        RETURN written;
    ELSIF octet_length(written) > 1024 THEN
        RETURN NULL;
    END IF;
    written := btrim(written, E' \t\r\n');
    id := lower((regexp_match(written,
        '^(?:(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv:\s*)?'
        '([0-9]{4}\.[0-9]{4,5}|[a-z][a-z-]{0,15}(?:\.[a-z]{2})?/[0-9]{7})'
        '(?:v[0-9]{1,3})?(?:\.pdf)?/?(?:[?#].*)?$', 'i'))[1]);
    IF id IS NOT NULL THEN
        RETURN regexp_replace(id, '\.[a-z]{2}/', '/');
    END IF;
    part := regexp_match(written,
        '^(?:https?://)?(?:www\.)?(biorxiv|medrxiv)(?:\.org/content/|:\s*)(10\.[0-9]{4,9}/[0-9]{1,20}(?:\.[0-9]{1,6}){0,3})'
        '(?:v[0-9]{1,3})?(?:\.[a-z][a-z.-]*)?/?(?:[?#].*)?$', 'i');
    RETURN lower(part[1] || ':' || part[2]);
END $$;

-- Where a paper comes from: `arxiv`, or what is before the DOI.
CREATE OR REPLACE FUNCTION paper_source(arxiv_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN strpos(arxiv_id, ':') > 0 THEN split_part(arxiv_id, ':', 1) ELSE 'arxiv' END;
