-- The ids of papers: of arXiv 2205.14135, or of the form before 2007 math/0309136, without version and subject class, at most 24
-- bytes; of other sources the name of the source and the DOI, biorxiv:10.1101/2026.11.20.123456, at most 64 bytes.

-- The id that a text names, however it is written: bare, `arXiv:`, or an address of the paper's abstract, PDF or HTML. NULL: it
-- names none.
CREATE OR REPLACE FUNCTION arxiv_id_of(written text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(written) IN (9, 10) AND strpos(written, '.') = 5 AND translate(written, '0123456789', '') = '.' THEN written
    WHEN octet_length(written) <= 1024 THEN coalesce(
    regexp_replace(lower((regexp_match(btrim(written, E' \t\r\n'),
        '^(?:(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv:\s*)?'
        '([0-9]{4}\.[0-9]{4,5}|[a-z][a-z-]{0,15}(?:\.[a-z]{2})?/[0-9]{7})'
        '(?:v[0-9]{1,3})?(?:\.pdf)?/?(?:[?#].*)?$', 'i'))[1]), '\.[a-z]{2}/', '/'),
    (SELECT lower(concat(part[1], ':', part[2]))
     FROM regexp_match(btrim(written, E' \t\r\n'),
        '^(?:https?://)?(?:www\.)?(biorxiv|medrxiv)(?:\.org/content/|:\s*)(10\.[0-9]{4,9}/[0-9]{1,20}(?:\.[0-9]{1,6}){0,3})'
        '(?:v[0-9]{1,3})?(?:\.[a-z][a-z.-]*)?/?(?:[?#].*)?$', 'i') part
     WHERE part IS NOT NULL)) END;

-- Where a paper comes from: `arxiv`, or what is before the DOI.
CREATE OR REPLACE FUNCTION paper_source(arxiv_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN strpos(arxiv_id, ':') > 0 THEN split_part(arxiv_id, ':', 1) ELSE 'arxiv' END;
