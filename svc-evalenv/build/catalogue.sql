-- name: catalogue_outcome(paper) (read)
-- Returns the members of the paper that change.
SELECT build_outcome(:paper);
