-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

CREATE OR REPLACE FUNCTION experiment_new(account uuid, body jsonb, request_id text) RETURNS experiment LANGUAGE sql AS $$
    SELECT experiment_new(account, body, NULL, request_id)
$$;

CREATE OR REPLACE FUNCTION implementation_pull_told(in_repo text, number int, branch text, state text, at timestamptz) RETURNS void
LANGUAGE sql AS $$
    SELECT implementation_pull_update(in_repo, number, branch, state, at)
$$;

CREATE OR REPLACE FUNCTION implementation_settle(experiment uuid, its_attempt int, conclusion text, pull jsonb) RETURNS void
LANGUAGE sql AS $$
    SELECT implementation_reconcile(experiment, its_attempt, conclusion, pull)
$$;
