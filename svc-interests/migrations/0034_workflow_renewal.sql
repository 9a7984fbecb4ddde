-- `workflow_version` of a provisioning is now the version of the product's workflow (provision/workflow_file.h), where it was a hash of
-- the repository's file; those that are there are versions of nobody, which is out of date.
--
--   renewal_version   for which a renewal was last started (provision/renewal.h)
--   proposed_version  what the pull request `pr_number` renews the workflow to; null: it brought the first one, or is merged
ALTER TABLE provisioning
    ADD COLUMN renewal_version text,
    ADD COLUMN proposed_version text;

-- The versions that processes have, and when one last said so.
CREATE TABLE workflow_version (
    version text PRIMARY KEY,
    seen_at timestamptz NOT NULL
);
