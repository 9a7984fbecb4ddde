-- original-sha256: 1bd0fd7986db1e1b7d8b18245731985fba4f70735ea34fbf6dd7c7b07752ddc6
--
-- Whether an account still has access to a repository, as svc-integrations asks the code host with the account's connection. An
-- owner (owned_repo) is asked about again once the answer is five minutes old and something happens in the repository.
--
--   asked_at  when the account last had access
--   lost_at   since when it has none, which the inbox shows; null: it has. Then it is no owner
--   repo, href  its name and page then
CREATE TABLE repo_access (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    asked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    lost_at    timestamptz,
    repo       text,
    href       text,
    PRIMARY KEY (account_id, repo_key),
    CHECK (lost_at IS NULL OR repo IS NOT NULL)
);

INSERT INTO repo_access (account_id, repo_key) SELECT account_id, repo_key FROM owned_repo;

CREATE TRIGGER account_skipped BEFORE INSERT ON repo_access FOR EACH ROW EXECUTE FUNCTION account_skipped();
