-- When the renewal to `renewal_version` was last started (provision/renewal.h). Null: a version that did not note it, so that those that
-- have failed are tried again.
ALTER TABLE provisioning ADD COLUMN renewal_tried_at timestamptz;

-- provisioning.default_branch is not used any more. It stays for one release: processes of the former version write it.
