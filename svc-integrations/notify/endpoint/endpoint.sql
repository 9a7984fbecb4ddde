-- name: endpoint_list(account, limit, offset) (read)
SELECT coalesce((SELECT jsonb_agg(endpoint_json(e) ORDER BY e.id DESC)
                 FROM (SELECT * FROM endpoint WHERE account_id = :account
                       ORDER BY id DESC LIMIT :limit OFFSET :offset) e), '[]'),
       (SELECT count(*) FROM endpoint WHERE account_id = :account) AS total;

-- name: endpoint_create(endpoint, account, body, secret, hint, endpoints_max, key, person)
-- The :secret is sealed; :hint: its last characters. :key and :person: who makes the endpoint.
SELECT endpoint_create(:endpoint, :account,
                       :body::jsonb || jsonb_build_object('key_id', :key::uuid, 'person_id', :person::uuid),
                       :secret, :hint, :endpoints_max::int);

-- name: endpoint_get(endpoint, account) (read)
SELECT endpoint_json(e) FROM endpoint e WHERE id = :endpoint AND account_id = :account;

-- name: endpoint_update(endpoint, account, body, key, person)
-- :key and :person: who changes the endpoint.
SELECT changed
FROM endpoint_update(:endpoint, :account,
                     :body::jsonb || jsonb_build_object('key_id', :key::uuid, 'person_id', :person::uuid)) AS changed
WHERE changed IS NOT NULL;

-- name: endpoint_delete(endpoint, account)
-- What waits for it goes with it.
WITH gone AS (
    DELETE FROM endpoint WHERE id = :endpoint AND account_id = :account RETURNING *
)
SELECT jsonb_build_object('id', g.id, 'deleted', true),
       CASE WHEN g.status = 'disabled' THEN endpoint_announce(g::endpoint, NULL) END
FROM gone g;

-- name: endpoint_rotate(endpoint, account, secret, hint, old_valid_s, is_forced)
-- The :secret is sealed; :hint: its last characters. The secret before it signs, too, for :old_valid_s. :is_forced: an older one
-- that still signs is given up. A row with NULL: one still signs.
SELECT changed FROM endpoint_rotate(:endpoint, :account, :secret, :hint, :old_valid_s::int, :is_forced);

-- name: endpoint_kind(endpoint, account) (read)
-- Returns its kind, and its address as it is shown.
SELECT kind, coalesce(url, email) AS url FROM endpoint WHERE id = :endpoint AND account_id = :account;

-- name: endpoint_create_email(endpoint, account, body, unsubscribe_token, endpoints_max, confirmation, token, token_hash, key,
--   person)
-- The :body has `unsubscribe_hash`. :unsubscribe_token ends the mails; :token is that of the :confirmation; both are sealed.
-- :key and :person: who makes the endpoint.
SELECT endpoint_create_email(:endpoint, :account,
                             :body::jsonb || jsonb_build_object('key_id', :key::uuid, 'person_id', :person::uuid),
                             :unsubscribe_token, :endpoints_max::int, :confirmation, :token, :token_hash);

-- name: endpoint_readdress(endpoint, account, body, confirmation, token, token_hash, key, person)
-- The :token of the :confirmation is sealed. :key and :person: who changes the endpoint.
SELECT changed
FROM endpoint_readdress(:endpoint, :account,
                        :body::jsonb || jsonb_build_object('key_id', :key::uuid, 'person_id', :person::uuid),
                        :confirmation, :token, :token_hash) AS changed
WHERE changed IS NOT NULL;
