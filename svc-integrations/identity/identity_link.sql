-- name: identity_link_create(account, body, links_max, person)
-- Returns the link, and whether it is new.
SELECT link, is_new
FROM identity_link_create(:account, :body::jsonb || jsonb_build_object('person_id', :person::uuid), :links_max);

-- name: identity_link_list(account, limit, offset) (read)
SELECT coalesce((SELECT jsonb_agg(identity_link_json(l) ORDER BY l.id DESC)
                 FROM (SELECT * FROM identity_link WHERE account_id = :account
                       ORDER BY id DESC LIMIT :limit OFFSET :offset) l), '[]'),
       (SELECT count(*) FROM identity_link WHERE account_id = :account) AS total;

-- name: identity_link_delete(account, link)
DELETE FROM identity_link WHERE account_id = :account AND id = :link
RETURNING jsonb_build_object('id', id, 'deleted', true);

-- name: identity_resolve(account, is_any_user, source, external_id, external_email) (read)
-- An :external_id or :external_email of NULL: any; both must match when both are given. If :is_any_user, links of others are
-- looked at, too; of these, only what their connections prove.
SELECT identity_link_json(l) FROM identity_link l
WHERE source = :source
  AND (:external_id::text IS NULL OR external_id = :external_id)
  AND (:external_email::text IS NULL OR lower(external_email) = lower(:external_email))
  AND (account_id = :account
       OR :is_any_user AND (:external_id IS NULL OR id_verified) AND (:external_email IS NULL OR email_verified))
ORDER BY id_verified DESC, email_verified DESC LIMIT 1;
