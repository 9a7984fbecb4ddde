-- name: similar_text(paper) (read)
-- Returns what the papers near to this one are searched by.
SELECT title || E'\n' || abstract FROM asset WHERE arxiv_id = :paper AND NOT is_deleted;
