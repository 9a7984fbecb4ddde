-- SHA-256 of a value in hex; jsonb has one form for what can be written in several.
CREATE FUNCTION json_digest(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(sha256(convert_to(value::text, 'UTF8')), 'hex');

-- How something is evaluated, for runs to use again and again.
--
--   spec     {"image" or "containerfile", "command", "env", "resources", "metrics", "dataset"}
--   digest   SHA-256 of the spec, in hex: equal specs have equal digests, however they were written
--   version  rises with every change
--   secret   of the webhooks that deliver results, sealed (libcommon/vault); null: they need none
CREATE TABLE template (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description text,
    spec        jsonb NOT NULL CHECK (jsonb_typeof(spec) = 'object'),
    digest      text GENERATED ALWAYS AS (json_digest(spec)) STORED,
    version     int NOT NULL DEFAULT 1,
    is_locked   boolean NOT NULL DEFAULT false,
    secret      bytea,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX template_name ON template (account_id, name);
CREATE INDEX template_list ON template (account_id, id);

CREATE TRIGGER account_required BEFORE INSERT ON template FOR EACH ROW EXECUTE FUNCTION account_required();

-- Every version that a template has had: a run goes on with the one that it began with.
CREATE TABLE template_version (
    template_id uuid NOT NULL REFERENCES template ON DELETE CASCADE,
    version     int NOT NULL,
    spec        jsonb NOT NULL,
    digest      text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (template_id, version)
);

CREATE FUNCTION template_keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO template_version (template_id, version, spec, digest) VALUES (NEW.id, NEW.version, NEW.spec, NEW.digest);
    RETURN NULL;
END $$;
CREATE TRIGGER template_new_version AFTER INSERT ON template FOR EACH ROW EXECUTE FUNCTION template_keep_version();
CREATE TRIGGER template_next_version AFTER UPDATE OF version ON template FOR EACH ROW EXECUTE FUNCTION template_keep_version();

CREATE FUNCTION template_json(t template) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'template_id', t.id, 'name', t.name, 'description', t.description, 'spec', t.spec, 'digest', t.digest,
        'version', t.version, 'locked', t.is_locked, 'has_webhook_secret', t.secret IS NOT NULL,
        'created_at', time_json(t.created_at), 'updated_at', time_json(t.updated_at))
$$;
