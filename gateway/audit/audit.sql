-- name: audit_begin(key, kind, ip, user_agent)
-- :key acts (NULL: none). :kind is that of an actor without a key (NULL: not known yet).
SELECT audit_begin(:key, :kind, :ip, :user_agent);

-- name: audit_refused(account, action, kind, target)
-- :kind is that of the target, :target its id (NULL: none).
SELECT audit_note(:account, :action, audit_target(:kind, :target, NULL), audit_changed('{}', '{}'), NULL, 'refused');

-- name: audit_take(event, account, at, data)
-- An :account of NULL: of none. :data is what the event tells. Of a deleted account nothing is kept.
SELECT audit_take(:event, :account, :at, :data);

-- name: audit_months_keep(days)
SELECT audit.audit_drop_before((now() AT TIME ZONE 'UTC')::date - :days::integer);
