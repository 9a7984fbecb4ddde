-- name: audited_begin
-- $1 who changes something, as audit_emit() tells it.
SELECT set_config('expops.audit', $1, true);
