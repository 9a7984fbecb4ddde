-- name: endpoint_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT coalesce((SELECT jsonb_agg(endpoint_json(e) ORDER BY e.id DESC)
                 FROM (SELECT * FROM endpoint WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3) e), '[]'),
       (SELECT count(*) FROM endpoint WHERE account_id = $1) AS total;

-- name: endpoint_create
-- $1 endpoint, $2 account, $3 the body, $4 sealed secret, $5 its last characters, $6 endpoints that the account may have, $7 key and $8
-- person of who makes it.
SELECT endpoint_create($1, $2, $3::jsonb || jsonb_build_object('key_id', $7::uuid, 'person_id', $8::uuid), $4, $5, $6::int);

-- name: endpoint_get (read)
-- $1 endpoint, $2 account.
SELECT endpoint_json(e) FROM endpoint e WHERE id = $1 AND account_id = $2;

-- name: endpoint_update
-- $1 endpoint, $2 account, $3 the body, $4 key and $5 person of who changes it.
SELECT changed FROM endpoint_update($1, $2, $3::jsonb || jsonb_build_object('key_id', $4::uuid, 'person_id', $5::uuid)) AS changed
WHERE changed IS NOT NULL;

-- name: endpoint_delete
-- $1 endpoint, $2 account. What waits for it goes with it.
WITH gone AS (
    DELETE FROM endpoint WHERE id = $1 AND account_id = $2 RETURNING *
)
SELECT jsonb_build_object('id', g.id, 'deleted', true), CASE WHEN g.status = 'disabled' THEN endpoint_announce(g::endpoint, NULL) END FROM gone g;

-- name: endpoint_rotate
-- $1 endpoint, $2 account, $3 sealed secret, $4 its last characters, $5 seconds for which the old one signs, too, $6 whether an old
-- one is given up.
SELECT changed FROM endpoint_rotate($1, $2, $3, $4, $5::int, $6);

-- name: endpoint_kind (read)
-- $1 endpoint, $2 account. Also its address, as it is shown.
SELECT kind, coalesce(url, email) AS url FROM endpoint WHERE id = $1 AND account_id = $2;

-- name: endpoint_create_email
-- $1 endpoint, $2 account, $3 the body with `unsubscribe_hash`, $4 sealed token that ends the mails, $5 endpoints that the account may
-- have, $6 confirmation, $7 its token, sealed, $8 the token's hash, $9 key and $10 person of who makes it.
SELECT endpoint_create_email($1, $2, $3::jsonb || jsonb_build_object('key_id', $9::uuid, 'person_id', $10::uuid), $4, $5::int, $6, $7, $8);

-- name: endpoint_readdress
-- $1 endpoint, $2 account, $3 the body, $4 confirmation, $5 its token, sealed, $6 the token's hash, $7 key and $8 person of who changes it.
SELECT changed
FROM endpoint_readdress($1, $2, $3::jsonb || jsonb_build_object('key_id', $7::uuid, 'person_id', $8::uuid), $4, $5, $6) AS changed
WHERE changed IS NOT NULL;
