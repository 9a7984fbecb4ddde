-- Builds of environments.
--
--   source       what it is built from: repo, arxiv_id or containerfile
--   asset        of the paper, as svc-search had it when the build was made; null unless it is of a paper
--   template     {"template_id", "version", "spec"} that it was made with; null: none
--   content      digest of what determines the image; null: unknown, since a branch of a repository moves
--   shares_asset its outcome goes to the shared catalogue of papers
--   report       digest of the report that ended it: the same one again changes nothing
CREATE TABLE build (
    id           uuid PRIMARY KEY REFERENCES work ON DELETE CASCADE,
    account_id   uuid NOT NULL,
    source       text NOT NULL CHECK (source IN ('repo', 'arxiv_id', 'containerfile')),
    repo         text,
    ref          text,
    arxiv_id     text,
    containerfile text,
    build_args   jsonb NOT NULL DEFAULT '{}',
    asset        jsonb,
    template     jsonb,
    content      text,
    shares_asset boolean NOT NULL DEFAULT false,
    image        text,
    digest       text,
    report       text
);

CREATE INDEX build_content ON build (account_id, content) WHERE content IS NOT NULL AND image IS NOT NULL;

CREATE FUNCTION build_json(b build, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'build_id', b.id, 'status', CASE w.status WHEN 'running' THEN 'building' ELSE w.status END, 'source', b.source,
        'repo', b.repo, 'ref', b.ref, 'arxiv_id', b.arxiv_id, 'template_id', b.template -> 'template_id',
        'image', b.image, 'digest', b.digest, 'log_tail', w.log_tail, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

-- What a worker needs to build it.
CREATE FUNCTION build_context(b build) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'build_id', b.id, 'containerfile', b.containerfile, 'repo', b.repo, 'ref', b.ref, 'build_args', b.build_args,
        'environment_vars', coalesce(b.asset -> 'environment_vars', '{}') || coalesce(b.template -> 'spec' -> 'env', '{}'),
        'asset', b.asset, 'template', b.template)
$$;

-- Make a build; its id. One of equal content that has succeeded in the account gives it its image at once, unless `no_cache`.
-- What a key makes that is limited to a repository belongs to that.
CREATE FUNCTION build_new(account uuid, given jsonb, paper jsonb, shares boolean, no_cache boolean, time_limit int,
                          limited_to text)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    b build;
    known build;
BEGIN
    b := jsonb_populate_record(NULL::build, given);
    b.id := uuid_v7();
    b.containerfile := coalesce(b.containerfile, paper ->> 'containerfile');
    b.repo := coalesce(b.repo, paper ->> 'github_url');
    b.build_args := coalesce(b.build_args, '{}');
    IF b.repo IS NULL OR b.ref ~ '^[0-9a-f]{40}$' THEN
        b.content := json_digest(jsonb_build_array(b.containerfile, lower(b.repo), b.ref, b.build_args));
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

-- What a worker reports. `outcome`: ok; lost: the work is not this attempt's any more; final: it has ended otherwise; missing.
CREATE FUNCTION build_report(wanted uuid, account uuid, attempt int, given jsonb, lease interval, OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
    told text := json_digest(given - 'log');
    state text := given ->> 'status';
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = 'build' AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN w.attempts = attempt AND w.finished_at IS NOT NULL
             AND told = (SELECT b.report FROM build b WHERE b.id = wanted) THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN w.attempts <> attempt OR w.status <> 'running' OR w.lease_until <= now() THEN 'lost'
        ELSE 'new' END;
    IF outcome <> 'new' THEN
        RETURN;
    END IF;
    outcome := 'ok';
    UPDATE work x SET log_tail = log_append(x.log_tail, given ->> 'log'), lease_until = now() + lease WHERE x.id = wanted;
    IF state = 'building' THEN
        RETURN;
    END IF;
    UPDATE build b SET report = told, image = CASE state WHEN 'succeeded' THEN given ->> 'image' END,
                       digest = CASE state WHEN 'succeeded' THEN given ->> 'digest' END WHERE b.id = wanted;
    PERFORM work_end(wanted, state, CASE state
        WHEN 'failed' THEN coalesce(nullif(given -> 'error', 'null'), fault_json('environment', 'The image was not built.'))
        WHEN 'cancelled' THEN fault_json('cancelled', 'The worker cancelled it.') END);
END $$;

-- Tell the shared catalogue of papers what came of a build that may. A failure does not take away the image that a paper has.
CREATE FUNCTION build_share(wanted uuid) RETURNS void LANGUAGE sql AS $$
    SELECT task_put('asset_update', b.account_id, jsonb_build_object(
        'arxiv_id', b.arxiv_id,
        'members', CASE w.status
            WHEN 'succeeded' THEN jsonb_build_object('container_image', b.image, 'container_status', 'ready')
            ELSE jsonb_build_object('container_status', 'failed') END), NULL, NULL)
    FROM build b JOIN work w USING (id)
    WHERE b.id = wanted AND b.shares_asset
      AND (w.status = 'succeeded' OR w.status = 'failed' AND b.asset ->> 'container_status' IS DISTINCT FROM 'ready')
$$;

CREATE FUNCTION build_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM build_share(NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER build_ended AFTER UPDATE OF finished_at ON work FOR EACH ROW
WHEN (NEW.kind = 'build' AND NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL) EXECUTE FUNCTION build_ended();
