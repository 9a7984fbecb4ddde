-- Create one role and one schema for each service; a service can access nothing else. Run this in the product's database as a superuser,
-- or as its owner with CREATEROLE, as the administrator of a managed server is, with the passwords of the services in the environment. It
-- can be repeated, by the same role:
--
--     SERVICE_PASSWORDS='gateway=... search=... interests=...' psql -f deploy/init.sql
--
-- A service without a password gets no role, and a role that exists keeps its password and is given its settings again. In other databases
-- of the server a role has the rights that those give to PUBLIC; where these are too many: REVOKE ALL ON DATABASE postgres, template1 FROM
-- PUBLIC.
\set ON_ERROR_STOP on
\set QUIET on
\getenv passwords SERVICE_PASSWORDS
SET client_min_messages = warning;

CREATE TEMP TABLE service AS
SELECT 'expops_' || name AS role,
       CASE name WHEN 'gateway' THEN 'account' ELSE name END AS schema,
       substr(pair, strpos(pair, '=') + 1) AS password
FROM regexp_split_to_table(:'passwords', '\s+') AS pair, split_part(pair, '=', 1) AS name
WHERE name <> '';

-- These, and those that have a schema of their own in this database from an earlier run.
CREATE TEMP TABLE service_role AS
SELECT role, schema FROM service
UNION
SELECT rolname::text, nspname::text FROM pg_roles r JOIN pg_namespace n ON n.nspowner = r.oid
WHERE rolname = 'expops_' || CASE nspname WHEN 'account' THEN 'gateway' ELSE nspname END AND rolname <> 'expops_audit';

SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
REVOKE ALL ON SCHEMA public FROM PUBLIC;

SELECT format('CREATE ROLE %I', role) FROM service WHERE to_regrole(role) IS NULL \gexec
SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', role, password) FROM service \gexec
SELECT format('ALTER ROLE %I NOSUPERUSER NOCREATEDB NOCREATEROLE', role) FROM service JOIN pg_roles ON rolname = role
WHERE rolsuper OR rolcreatedb OR rolcreaterole \gexec
-- Only members may make a schema of a role.
SELECT format('GRANT %I TO CURRENT_USER', role) FROM service WHERE NOT current_setting('is_superuser')::boolean \gexec
SELECT format('ALTER ROLE %I SET search_path = %I', role, schema) FROM service_role \gexec

-- The settings of each session (libcommon/pg/session.c). A process cannot set them itself, because a pooler shares its
-- sessions. A transaction of a process that vanished or was stopped, with its locks, ends after 10 seconds, and its
-- connection after 11.
SELECT format('ALTER ROLE %I SET %s', role, setting) FROM service_role, unnest(ARRAY[
    'timezone = ''UTC''', 'datestyle = ''ISO''', 'bytea_output = ''hex''', 'jit = off',
    'statement_timeout = ''30s''', 'idle_in_transaction_session_timeout = ''10s''',
    'client_connection_check_interval = ''1s''',
    'tcp_keepalives_idle = 5', 'tcp_keepalives_interval = 2', 'tcp_keepalives_count = 3', 'tcp_user_timeout = ''10s'''
]) AS setting \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM %I', current_database(), role) FROM service \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), role) FROM service \gexec
SELECT format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', schema, role) FROM service \gexec
SELECT format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', schema) FROM service \gexec
\ir audit.sql

-- In a database of 0.1.0, before its upgrade: a statement that waits inside experiment_new() while the migration gives `experiment` more
-- columns fails, as the function then returns another row than was planned. So it ends with serialization_failure after it has waited,
-- upon which a process of 0.1.0 plans and runs it again. The migration puts the function of this version in its place.
DO $$
DECLARE
    made regprocedure := to_regprocedure('experiments.experiment_new(uuid, jsonb, text)');
BEGIN
    IF made IS NULL OR to_regclass('experiments.functions') IS NOT NULL THEN
        RETURN;
    END IF;
    SET LOCAL search_path = experiments;
    EXECUTE replace(pg_get_functiondef(made), E'BEGIN\n    INSERT INTO experiment ', $body$BEGIN
    BEGIN
        LOCK TABLE experiment IN ROW EXCLUSIVE MODE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        LOCK TABLE experiment IN ROW EXCLUSIVE MODE;
        RAISE serialization_failure USING MESSAGE = 'the table was changed';
    END;
    INSERT INTO experiment $body$);
END $$;
