-- name: audited_begin
-- $1 key that acts (NULL: a service), $2 address of the client, $3 what its browser calls itself.
SELECT set_config('expops.audit', jsonb_build_object('key_id', $1::uuid, 'ip', $2::text, 'user_agent', $3::text)::text, true);
