-- Repositories that the app is not installed on, as the code host told. Rows count for a minute.
CREATE TABLE installation_absence (
    repo    text PRIMARY KEY CHECK (repo = lower(repo) AND octet_length(repo) <= 300),
    told_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX installation_absence_told ON installation_absence (told_at);

-- How often the code host was asked for an installation on behalf of an account, in the hour from `began_at` on.
CREATE TABLE installation_lookup (
    account_id uuid PRIMARY KEY,
    began_at   timestamptz NOT NULL DEFAULT now(),
    lookups    int NOT NULL DEFAULT 1
);

CREATE TRIGGER account_skipped BEFORE INSERT ON installation_lookup FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- As before, and what is remembered of repositories without the app: any installation may have changed that.
CREATE OR REPLACE FUNCTION webhook_installations_forget(installation bigint, repos jsonb) RETURNS bigint
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH gone AS (
        DELETE FROM installation i
        WHERE i.installation_id = $1 OR i.repo IN (SELECT lower(r) FROM jsonb_array_elements_text($2) AS r)
        RETURNING i.repo
    ), absent AS (
        DELETE FROM installation_absence a
        WHERE $1 IS NOT NULL OR a.repo IN (SELECT lower(r) FROM jsonb_array_elements_text($2) AS r)
    )
    SELECT count(*) FROM gone;
END;

CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    PERFORM connection_remove(account);
    DELETE FROM authorization_attempt WHERE account_id = account;
    DELETE FROM identity_link WHERE account_id = account;
    DELETE FROM repository_access WHERE account_id = account;
    DELETE FROM installation_lookup WHERE account_id = account;
    DELETE FROM dispatch WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;
