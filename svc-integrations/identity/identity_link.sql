-- name: identity_link_create
-- $1 account, $2 the body, $3 links that the account may have, $4 person. The link, and whether it is new.
SELECT link, is_new FROM identity_link_create($1, $2::jsonb || jsonb_build_object('person_id', $4::uuid), $3);

-- name: identity_link_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT coalesce((SELECT jsonb_agg(identity_link_json(l) ORDER BY l.id DESC)
                 FROM (SELECT * FROM identity_link WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3) l), '[]'),
       (SELECT count(*) FROM identity_link WHERE account_id = $1) AS total;

-- name: identity_link_delete
-- $1 account, $2 link.
DELETE FROM identity_link WHERE account_id = $1 AND id = $2 RETURNING jsonb_build_object('id', id, 'deleted', true);

-- name: identity_resolve (read)
-- $1 account, $2 whether links of others are looked at, $3 source, $4 external id or NULL, $5 external email or NULL; both must match
-- when both are given. Of others, only what their connections prove.
SELECT identity_link_json(l) FROM identity_link l
WHERE source = $3 AND ($4::text IS NULL OR external_id = $4) AND ($5::text IS NULL OR lower(external_email) = lower($5))
  AND (account_id = $1 OR $2 AND ($4 IS NULL OR id_verified) AND ($5 IS NULL OR email_verified))
ORDER BY id_verified DESC, email_verified DESC LIMIT 1;
