-- name: invitation_create
-- $1 account, $2 the key that asks, $3 id, $4 address, $5 role, $6 hash of the token, $7 whether it is to be mailed.
SELECT made, outcome FROM invitation_make($1, $2, $3, $4, $5, $6, $7);

-- name: invitation_revoke
-- $1 account, $2 the key that asks, $3 id. No row: it is not open, or an owner's.
UPDATE invitation i SET revoked_at = now()
WHERE i.account_id = $1 AND i.id = $3 AND invitation_is_open(i) AND may_manage($1, $2, i.role, NULL)
RETURNING jsonb_build_object('id', i.id, 'deleted', true);

-- name: invitation_take
-- $1 hash of the session, $2 hash of the token.
SELECT made, outcome FROM invitation_accept($1, $2);
