-- name: similar_text (read)
-- $1 the id. What the papers near to this one are searched by.
SELECT title || E'\n' || abstract FROM asset WHERE arxiv_id = $1 AND NOT is_deleted;
