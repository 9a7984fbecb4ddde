-- original-sha256: 164e9958abf2e3e3b46dc06184d833bbc85d2ded8926e7468d9478052e6dd5e0
--
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
