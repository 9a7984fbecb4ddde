-- The audit log is not the gateway's own (deploy/audit.sql), so only a superuser makes it.
DO $$ BEGIN
    IF to_regnamespace('audit') IS NULL OR NOT has_schema_privilege('audit', 'USAGE')
       OR to_regprocedure('audit.audit_add(uuid, uuid, timestamptz, jsonb, text, jsonb, jsonb, inet, text, text, text)') IS NULL THEN
        RAISE EXCEPTION 'the database has no audit log that this role may use: run deploy/init.sql of this version once, as a superuser';
    END IF;
END $$;
