-- original-sha256: be8bd143c6bdcb130eef933ebbb227c4e258cb7fe6880e2130613304e69c5ed7
--
-- Repositories to which an account has lost access, after a key of the account or svc-fleet has used them: the other services were
-- told. The row goes when the code host says that the account has access again.
CREATE TABLE access_lost (
    account_id uuid NOT NULL,
    repo       text NOT NULL CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo)
);
CREATE TRIGGER account_skipped BEFORE INSERT ON access_lost FOR EACH ROW EXECUTE FUNCTION account_skipped();
