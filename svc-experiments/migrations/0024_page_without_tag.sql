-- Only functions called them, which now call those that filter by tag, too (page.fn.sql).
DROP FUNCTION IF EXISTS experiment_found(uuid, uuid, text, text, text, text, boolean, text);
DROP FUNCTION IF EXISTS experiment_page_filtered(uuid, uuid, text, text, text, text, boolean, text, bigint, bigint);
