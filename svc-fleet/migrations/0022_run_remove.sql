-- original-sha256: c59098a05e3df17fb875eb9702b2f062fe00e82630040501866ee1722d138f85
--
-- Runs that were removed: what the code host goes on telling of them does not bring them back. A report of its own does.
CREATE TABLE run_removed (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL,
    run_key    text NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo_key, run_key)
);

CREATE TRIGGER account_skipped BEFORE INSERT ON run_removed FOR EACH ROW EXECUTE FUNCTION account_skipped();
