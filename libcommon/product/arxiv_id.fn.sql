-- The arXiv id that a text names, without version, at most 24 bytes: 2205.14135, or of the form before 2007 math/0309136,
-- without subject class. However it is written: bare, `arXiv:`, or an address of its abstract, PDF or HTML. NULL: it
-- names none.
CREATE OR REPLACE FUNCTION arxiv_id_of(written text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(written) <= 1024 THEN
    regexp_replace(lower((regexp_match(btrim(written, E' \t\r\n'),
        '^(?:(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv:\s*)?'
        '([0-9]{4}\.[0-9]{4,5}|[a-z][a-z-]{0,15}(?:\.[a-z]{2})?/[0-9]{7})'
        '(?:v[0-9]{1,3})?(?:\.pdf)?/?(?:[?#].*)?$', 'i'))[1]), '\.[a-z]{2}/', '/') END;
