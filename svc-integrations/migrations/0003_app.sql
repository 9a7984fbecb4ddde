-- Rate limits of the code host that are reached: `app`, `installation 123`, `user 0197…`. All replicas wait.
CREATE TABLE rate_limit (
    name  text PRIMARY KEY,
    until timestamptz NOT NULL
);

CREATE INDEX rate_limit_until ON rate_limit (until);

-- The installation of the app that covers a repository, as the code host told. `repo` is in lower case.
CREATE TABLE installation (
    repo            text PRIMARY KEY CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    installation_id bigint NOT NULL,
    owner_login     text NOT NULL,
    permissions     jsonb NOT NULL,
    told_at         timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX installation_by_id ON installation (installation_id);

-- Whether the user of an account's code-host connection can push to a repository, as the code host told.
CREATE TABLE repository_access (
    account_id uuid NOT NULL,
    repo       text NOT NULL CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    can_push   boolean NOT NULL,
    told_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo)
);

CREATE INDEX repository_access_told ON repository_access (told_at);
CREATE TRIGGER account_skipped BEFORE INSERT ON repository_access FOR EACH ROW EXECUTE FUNCTION account_skipped();
