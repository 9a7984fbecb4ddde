-- name: access_get (read)
-- $1 account, $2 repository in any case, $3 for how many seconds an answer of the code host is believed.
SELECT can_push FROM repository_access
WHERE account_id = $1 AND repo = lower($2) AND told_at > now() - make_interval(secs => $3::float8);

-- name: access_store
-- $1 account, $2 repository, $3 whether it can push, $4 as above. Also deletes up to 20 old answers.
WITH old AS (
    DELETE FROM repository_access WHERE ctid IN (
        SELECT ctid FROM repository_access WHERE told_at < now() - make_interval(secs => $4::float8)
        LIMIT 20 FOR UPDATE SKIP LOCKED)
    AND (account_id, repo) <> ($1, lower($2))
)
INSERT INTO repository_access AS a (account_id, repo, can_push) VALUES ($1, lower($2), $3)
ON CONFLICT (account_id, repo) DO UPDATE SET can_push = excluded.can_push, told_at = now();
