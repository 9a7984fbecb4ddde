-- name: invitation_create(account, actor_key, invitation, email, role, token_hash, is_mailed)
-- :is_mailed: it is to be mailed.
SELECT made, outcome
FROM invitation_make(:account, :actor_key, :invitation, :email, :role, :token_hash, :is_mailed);

-- name: invitation_revoke(account, actor_key, invitation)
-- No row: it is not open, or an owner's.
UPDATE invitation i SET revoked_at = now()
WHERE i.account_id = :account AND i.id = :invitation AND invitation_is_open(i) AND may_manage(:account, :actor_key, i.role, NULL)
RETURNING jsonb_build_object('id', i.id, 'deleted', true);

-- name: invitation_take(session_hash, token_hash)
SELECT made, outcome FROM invitation_accept(:session_hash, :token_hash);
