CREATE OR REPLACE FUNCTION template_keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO template_version (template_id, version, spec, digest) VALUES (NEW.id, NEW.version, NEW.spec, NEW.digest);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER template_new_version AFTER INSERT ON template FOR EACH ROW EXECUTE FUNCTION template_keep_version();
CREATE OR REPLACE TRIGGER template_next_version AFTER UPDATE OF version ON template FOR EACH ROW EXECUTE FUNCTION template_keep_version();

-- A template as the API shows it.
CREATE OR REPLACE FUNCTION template_json(t template) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'template_id', t.id, 'name', t.name, 'description', t.description, 'spec', t.spec, 'digest', t.digest,
        'repo', t.repo, 'version', t.version, 'locked', t.is_locked, 'has_webhook_secret', t.secret IS NOT NULL,
        'created_at', time_json(t.created_at), 'updated_at', time_json(t.updated_at))
$$;

-- The seconds that a template gives its runs; null: it does not say.
CREATE OR REPLACE FUNCTION spec_timeout(spec jsonb) RETURNS int LANGUAGE sql IMMUTABLE
RETURN CASE WHEN jsonb_typeof(spec #> '{resources,timeout_seconds}') = 'number'
            THEN least(greatest((spec #> '{resources,timeout_seconds}')::numeric, 1), 604800)::int END;

CREATE OR REPLACE FUNCTION template_count(account uuid) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*) FROM template t WHERE t.account_id = account
$$;

-- Make a template of a body that was checked. Violates template_max when the account has `most`.
CREATE OR REPLACE FUNCTION template_new(account uuid, id uuid, body jsonb, secret bytea, most int) RETURNS template
LANGUAGE plpgsql AS $$
DECLARE
    made template;
BEGIN
    IF NOT room_require(account, 'template_max', template_count(account), most, false) THEN
        PERFORM room_require(account, 'template_max', template_count(account), most, true);
    END IF;
    INSERT INTO template AS t (id, account_id, name, description, spec, repo, secret)
    SELECT template_new.id, account, n.name, n.description, n.spec, n.repo, template_new.secret
    FROM jsonb_populate_record(NULL::template, body) n
    RETURNING t.* INTO made;
    RETURN made;
END $$;
