-- name: identity_link_create
-- $1 account, $2 the body. No row: the identity is linked.
INSERT INTO identity_link AS l (account_id, source, external_id, external_email, external_login)
SELECT $1, b.source, b.external_id, b.external_email, b.external_login
FROM jsonb_to_record($2::jsonb) AS b (source text, external_id text, external_email text, external_login text)
ON CONFLICT DO NOTHING
RETURNING identity_link_json(l);

-- name: identity_link_own (read)
-- $1 account, $2 source, $3 external id: the caller's own link; no row: it is another account's, or the email is.
SELECT identity_link_json(l) FROM identity_link l WHERE account_id = $1 AND source = $2 AND external_id = $3;

-- name: identity_link_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT coalesce((SELECT jsonb_agg(identity_link_json(l) ORDER BY l.id DESC)
                 FROM (SELECT * FROM identity_link WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3) l), '[]'),
       (SELECT count(*) FROM identity_link WHERE account_id = $1);

-- name: identity_resolve (read)
-- $1 account, NULL: any, $2 source, $3 external id or NULL, $4 external email or NULL; both must match when both are given.
SELECT identity_link_json(l) FROM identity_link l
WHERE ($1::uuid IS NULL OR account_id = $1) AND source = $2
  AND ($3::text IS NULL OR external_id = $3) AND ($4::text IS NULL OR lower(external_email) = lower($4));
