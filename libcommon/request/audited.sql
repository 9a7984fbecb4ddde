-- name: audited_begin
-- $1 kind of an actor without a key (NULL: a service), $2 key that acts (NULL: none), $3 address of the client, $4 what its browser calls
-- itself.
SELECT set_config('expops.audit', jsonb_build_object('kind', $1::text, 'key_id', $2::uuid, 'ip', $3::text, 'user_agent', $4::text)::text, true);
