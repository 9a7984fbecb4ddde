-- The oldest papers that runs passed over, which are deleted first (candidate/retention.fn.sql). It takes the longest, so it comes before
-- what locks the small tables that every report needs.
CREATE INDEX candidate_by_age ON candidate (first_at) WHERE gate IS NOT NULL;

-- Pull requests that were reverted after their merge (code_host/revert.fn.sql).
--
--   reverted_by, reapplied_by  address of the pull request or commit that did it
ALTER TABLE deliverable
    ADD COLUMN reverted_at  timestamptz,
    ADD COLUMN reverted_by  text,
    ADD COLUMN reapplied_at timestamptz,
    ADD COLUMN reapplied_by text;

-- The commit on the base branch by which a pull request was merged.
ALTER TABLE code_host_item ADD COLUMN merge_commit text;
CREATE INDEX code_host_item_commit ON code_host_item (repo_key, merge_commit) WHERE merge_commit IS NOT NULL;

-- What the code host said of reverts.
--
--   target, by  a pull request as `#7`, or the 40 digits of a commit
CREATE TABLE code_host_revert (
    repo_key text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    target   text NOT NULL CHECK (octet_length(target) <= 40),
    by       text NOT NULL CHECK (octet_length(by) <= 40),
    at       timestamptz NOT NULL,
    PRIMARY KEY (repo_key, target, by)
);
