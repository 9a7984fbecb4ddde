-- The audit log of the gateway (gateway/audit/audit.h): who changed what. deploy/init.sql includes this; both can be repeated.
--
-- The log belongs to a role of its own, without log-in, in a schema of its own: whoever owns a schema may drop what is in it. So the
-- gateway's role can add entries and read them, and has no right to change or delete one; it calls the functions below. They run as the
-- owner, and nothing of another schema is used in them: the gateway could replace that.

SELECT 'CREATE ROLE expops_audit NOLOGIN' WHERE to_regrole('expops_audit') IS NULL \gexec
SELECT 'GRANT expops_audit TO CURRENT_USER' WHERE NOT current_setting('is_superuser')::boolean \gexec
CREATE SCHEMA IF NOT EXISTS audit AUTHORIZATION expops_audit;
REVOKE ALL ON SCHEMA audit FROM PUBLIC;
SET ROLE expops_audit;

-- An entry. Addresses and names are copied into it, so that it can be read when the person or the key is gone.
--
--   account_id  the nil id: of no account that there is, for operators
--   actor       {"kind": "person", "person_id", "email", "key_id", "key_name"}; `kind` is `person`, `key`, `service` or `operator`
--   target      {"kind": "key", "id", "name"}
--   detail      {"changed": [{"field", "from", "to"}]}, without secrets
CREATE TABLE IF NOT EXISTS audit.audit (
    id         uuid NOT NULL,
    account_id uuid NOT NULL,
    at         timestamptz NOT NULL,
    actor      jsonb NOT NULL,
    action     text NOT NULL CHECK (action ~ '^[a-z_]+\.[a-z_]+$'),
    target     jsonb NOT NULL,
    detail     jsonb NOT NULL,
    ip         inet,
    user_agent text,
    request_id text,
    outcome    text NOT NULL CHECK (outcome IN ('done', 'refused')),
    PRIMARY KEY (id, at)
) PARTITION BY RANGE (at);

CREATE INDEX IF NOT EXISTS audit_account ON audit.audit (account_id, at DESC, id DESC);
CREATE INDEX IF NOT EXISTS audit_actor ON audit.audit ((actor ->> 'person_id')) WHERE actor ->> 'person_id' IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_target ON audit.audit ((target ->> 'id'));
CREATE INDEX IF NOT EXISTS audit_address ON audit.audit (lower(target ->> 'name')) WHERE target ->> 'kind' IN ('invitation', 'session');

-- Make the partition of the month (UTC) of a day, unless it is there. Attaching a table does not wait for inserts into others, as
-- creating a partition would.
CREATE OR REPLACE FUNCTION audit.audit_month(day date) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    month date := date_trunc('month', day);
    name  text := 'audit_' || to_char(month, 'YYYYMM');
BEGIN
    IF to_regclass('audit.' || name) IS NOT NULL THEN
        RETURN;
    END IF;
    LOCK TABLE audit.audit IN SHARE UPDATE EXCLUSIVE MODE; -- one at a time
    IF to_regclass('audit.' || name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE audit.%I (LIKE audit.audit INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE audit.audit ATTACH PARTITION audit.%I FOR VALUES FROM (%L) TO (%L)',
                   name, month || ' 00:00:00+00', (month + interval '1 month')::date || ' 00:00:00+00');
END $$;

-- Add an entry, unless one has this id and time: whoever says the same twice adds it once. One of the future is of now.
CREATE OR REPLACE FUNCTION audit.audit_add(new_id uuid, account uuid, new_at timestamptz, new_actor jsonb, new_action text, new_target jsonb,
                                           new_detail jsonb, address inet, agent text, request text, new_outcome text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    entry_at timestamptz := least(new_at, now());
BEGIN
    PERFORM audit.audit_month((entry_at AT TIME ZONE 'UTC')::date);
    INSERT INTO audit.audit (id, account_id, at, actor, action, target, detail, ip, user_agent, request_id, outcome)
    VALUES (new_id, account, entry_at, new_actor, new_action, new_target, new_detail, address, agent, request, new_outcome)
    ON CONFLICT (id, at) DO NOTHING;
END $$;

-- Make the months to come, and drop those that ended before a day; never one of the last 30 days, whoever asks. Does not wait longer
-- than a second for the table. How many were dropped.
CREATE OR REPLACE FUNCTION audit.audit_drop_before(day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    today   date := (now() AT TIME ZONE 'UTC')::date;
    dropped integer := 0;
    month   text;
BEGIN
    PERFORM audit.audit_month((today + make_interval(months => n))::date) FROM generate_series(0, 2) n;
    FOR month IN SELECT right(c.relname, 6) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                 WHERE i.inhparent = 'audit.audit'::regclass AND right(c.relname, 6) COLLATE "C" < to_char(least(day, today - 30), 'YYYYMM')
    LOOP
        BEGIN
            EXECUTE format('DROP TABLE audit.%I', 'audit_' || month);
        EXCEPTION WHEN lock_not_available THEN
            RETURN dropped; -- somebody reads: the months to come stay made
        END;
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

-- Forget an account, with all of its entries; and a person, whose address, and the names of their keys, are `deleted` from now on in the
-- entries of all accounts. Null: nobody.
CREATE OR REPLACE FUNCTION audit.audit_forget(account uuid, person uuid, address text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM audit.audit a WHERE a.account_id = account AND a.account_id <> '00000000-0000-0000-0000-000000000000';
    UPDATE audit.audit a SET actor = a.actor || '{"email": "deleted", "key_name": "deleted"}' WHERE a.actor ->> 'person_id' = person::text;
    UPDATE audit.audit a SET target = a.target || '{"name": "deleted"}' WHERE a.target ->> 'id' = person::text;
    UPDATE audit.audit a SET target = a.target || '{"name": "deleted"}'
    WHERE a.target ->> 'kind' IN ('key', 'session') AND a.actor ->> 'person_id' = person::text;
    UPDATE audit.audit a SET target = a.target || '{"name": "deleted"}'
    WHERE a.target ->> 'kind' IN ('invitation', 'session') AND lower(a.target ->> 'name') = lower(address);
END $$;

SELECT audit.audit_drop_before('2000-01-01') \g /dev/null

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA audit FROM PUBLIC;
SELECT format('GRANT %s TO expops_gateway', what)
FROM unnest(ARRAY['USAGE ON SCHEMA audit', 'SELECT ON audit.audit',
                  'EXECUTE ON FUNCTION audit.audit_add, audit.audit_drop_before, audit.audit_forget']) what
WHERE to_regrole('expops_gateway') IS NOT NULL \gexec
RESET ROLE;
