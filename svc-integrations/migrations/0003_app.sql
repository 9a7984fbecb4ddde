-- Rate limits of the code host that are reached: `app`, `installation 123`, `user 0197…`. All replicas wait.
CREATE TABLE rate_limit (
    name  text PRIMARY KEY,
    until timestamptz NOT NULL
);

CREATE INDEX rate_limit_until ON rate_limit (until);

-- The installation of the app that covers a repository, as the code host told. `repo` is in lower case, as it was asked for.
-- A renamed repository has its number there, and its name now as soon as that was asked.
CREATE TABLE installation (
    repo            text PRIMARY KEY CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    installation_id bigint NOT NULL,
    owner_login     text NOT NULL,
    permissions     jsonb NOT NULL,
    repository_id   bigint,
    full_name       text,
    told_at         timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX installation_by_id ON installation (installation_id);

-- Repositories that the user of a code-host connection can push to, as the code host told.
CREATE TABLE repository_access (
    account_id    uuid NOT NULL,
    connection_id uuid NOT NULL,
    repo          text NOT NULL CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    told_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (connection_id, repo)
);

CREATE INDEX repository_access_told ON repository_access (told_at);
CREATE INDEX repository_access_account ON repository_access (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON repository_access FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Locks over all replicas, for work at the code host (repository/replica_lock.h).
CREATE TABLE replica_lock (
    name   text PRIMARY KEY,
    holder uuid NOT NULL,
    until  timestamptz NOT NULL
);

CREATE INDEX replica_lock_until ON replica_lock (until);

-- Workflow runs that were started for a key of the caller's (repository/dispatch.h).
--
--   after_run_id   the newest run of the workflow before it
--   is_answered    the code host has started it; false: that is not known
--   run_id         null: the code host did not tell
CREATE TABLE dispatch (
    account_id    uuid NOT NULL,
    key           text NOT NULL CHECK (octet_length(key) <= 800),
    repo          text NOT NULL,
    workflow      text NOT NULL,
    after_run_id  bigint NOT NULL,
    is_answered   boolean NOT NULL DEFAULT false,
    run_id        bigint,
    html_url      text,
    dispatched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, key)
);

CREATE INDEX dispatch_of_run ON dispatch (lower(repo), run_id);
CREATE INDEX dispatch_age ON dispatch (dispatched_at);
CREATE TRIGGER account_required BEFORE INSERT ON dispatch FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    PERFORM connection_remove(account);
    DELETE FROM authorization_attempt WHERE account_id = account;
    DELETE FROM identity_link WHERE account_id = account;
    DELETE FROM repository_access WHERE account_id = account;
    DELETE FROM dispatch WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;
