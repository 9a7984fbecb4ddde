-- name: audited_begin(by)
-- :by says who changes something, as audit_emit() tells it.
SELECT set_config('expops.audit', :by, true);
