-- The environment variables that an image is built with, of the paper and then of the template.
CREATE FUNCTION build_environment(paper jsonb, template jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(nullif(paper -> 'environment_vars', 'null'), '{}') || coalesce(nullif(template -> 'spec' -> 'env', 'null'), '{}')
$$;

-- Make a build; its id. One of equal content that has succeeded in the account gives it its image at once, unless `no_cache`.
-- What a key makes that is limited to a repository belongs to that. As before, but builds with other environment variables are not
-- equal. The digest of one without any is as before.
CREATE OR REPLACE FUNCTION build_new(account uuid, given jsonb, paper jsonb, shares boolean, no_cache boolean, time_limit int,
                                     limited_to text)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    b build;
    known build;
    environment jsonb;
BEGIN
    b := jsonb_populate_record(NULL::build, given);
    b.id := uuid_v7();
    b.containerfile := coalesce(b.containerfile, paper ->> 'containerfile');
    b.repo := coalesce(b.repo, paper ->> 'github_url');
    b.build_args := coalesce(b.build_args, '{}');
    environment := build_environment(paper, b.template);
    IF b.repo IS NULL OR b.ref ~ '^[0-9a-f]{40}$' THEN
        b.content := json_digest(jsonb_build_array(b.containerfile, lower(b.repo), b.ref, b.build_args)
                                 || CASE WHEN environment = '{}' THEN '[]' ELSE jsonb_build_array(environment) END);
    END IF;
    IF NOT no_cache AND b.content IS NOT NULL THEN
        SELECT * INTO known FROM build x
        WHERE x.account_id = account AND x.content = b.content AND x.image IS NOT NULL ORDER BY x.id DESC LIMIT 1;
    END IF;
    INSERT INTO work (id, kind, account_id, repo, timeout_seconds, turn, status, started_at, finished_at)
    VALUES (b.id, 'build', account, coalesce(limited_to, b.repo), time_limit, work_turn('build', account),
            CASE WHEN known.id IS NULL THEN 'queued' ELSE 'succeeded' END,
            CASE WHEN known.id IS NOT NULL THEN now() END, CASE WHEN known.id IS NOT NULL THEN now() END);
    INSERT INTO build (id, account_id, source, repo, ref, arxiv_id, containerfile, build_args, asset, template, content,
                       shares_asset, image, digest)
    VALUES (b.id, account, given ->> 'source', b.repo, b.ref, b.arxiv_id, b.containerfile, b.build_args, paper, b.template,
            b.content, shares, known.image, known.digest);
    IF known.id IS NOT NULL THEN
        PERFORM build_share(b.id);
    END IF;
    RETURN b.id;
END $$;

-- The digests of builds with environment variables left those out: such a build is equal to none.
UPDATE build SET content = NULL WHERE content IS NOT NULL AND build_environment(asset, template) <> '{}';

-- The value, or null if its text has more than 16 KiB. One that is large even compressed is not read.
CREATE FUNCTION json_unless_large(value jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN pg_column_size(value) <= 16384 THEN CASE WHEN octet_length(value::text) <= 16384 THEN value END END
$$;

-- A run as lists show it: as run_json(), with null in place of members that are large.
CREATE FUNCTION run_item_json(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'name', r.name, 'status', w.status, 'target', r.target, 'template_id', r.template_id,
        'template_version', r.template_version, 'template_digest', r.template_digest, 'build_id', r.build_id,
        'params', json_unless_large(r.params), 'timeout_seconds', w.timeout_seconds,
        'metrics', json_unless_large(r.metrics), 'results', json_unless_large(r.results),
        'artifacts', json_unless_large(coalesce(r.artifacts, '[]')),
        'log_tail', CASE WHEN octet_length(w.log_tail) <= 16384 THEN w.log_tail END,
        'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

-- Deliveries are forgotten by age.
CREATE INDEX delivery_received ON delivery (received_at);
