-- name: audit_begin
-- $1 key that acts (NULL: none), $2 kind of an actor without a key (NULL: not known yet), $3 address of the client, $4 what its browser
-- calls itself.
SELECT audit_begin($1, $2, $3, $4);

-- name: audit_refused
-- $1 account, $2 action, $3 kind of the target, $4 its id (NULL: none).
SELECT audit_note($1, $2, audit_target($3, $4, NULL), audit_changed('{}', '{}'), NULL, 'refused');

-- name: audit_take
-- $1 event, $2 account (NULL: of none), $3 when, $4 what it tells. Of a deleted account nothing is kept.
SELECT audit_take($1, $2, $3, $4);

-- name: audit_months_keep
-- $1 days.
SELECT audit.audit_drop_before((now() AT TIME ZONE 'UTC')::date - $1::integer);
