-- A build as the API shows it.
CREATE OR REPLACE FUNCTION build_item_json(b build, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'build_id', b.id, 'status', CASE w.status WHEN 'running' THEN 'building' ELSE w.status END, 'source', b.source,
        'repo', b.repo, 'ref', b.ref, 'arxiv_id', b.arxiv_id, 'template_id', b.template -> 'template_id',
        'image', b.image, 'digest', b.digest, 'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

CREATE OR REPLACE FUNCTION build_json(b build, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT build_item_json(b, w) || jsonb_build_object('log_tail', log_tail(w.id))
$$;

-- What a worker needs to build it.
CREATE OR REPLACE FUNCTION build_context(b build) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'build_id', b.id, 'containerfile', b.containerfile, 'repo', b.repo, 'ref', b.ref, 'build_args', b.build_args,
        'environment_vars', coalesce(b.asset -> 'environment_vars', '{}') || coalesce(b.template -> 'spec' -> 'env', '{}'),
        'asset', b.asset, 'template', b.template)
$$;

-- The environment variables that an image is built with, of the paper and then of the template.
CREATE OR REPLACE FUNCTION build_environment(paper jsonb, template jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(nullif(paper -> 'environment_vars', 'null'), '{}') || coalesce(nullif(template -> 'spec' -> 'env', 'null'), '{}')
$$;

-- What came of the builds of a paper that its catalogue is told of, as members of the paper: the image of the newest one that has succeeded.
CREATE OR REPLACE FUNCTION build_outcome(paper text) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT jsonb_build_object('container_image', b.image, 'container_status', 'ready')
                     FROM build b WHERE b.arxiv_id = paper AND b.shares_asset AND b.image IS NOT NULL ORDER BY b.id DESC LIMIT 1),
                    '{"container_status": "failed"}')
$$;

-- Report to the shared catalogue of papers what came of a build that may. A failure does not take away the image that a paper has.
CREATE OR REPLACE FUNCTION build_share(wanted uuid) RETURNS void LANGUAGE sql AS $$
    SELECT task_put('asset_update', b.account_id, jsonb_build_object(
        'arxiv_id', b.arxiv_id, 'members', build_outcome(b.arxiv_id)), NULL, NULL) -- the release before does not ask for the members
    FROM build b JOIN work w USING (id)
    WHERE b.id = wanted AND b.shares_asset
      AND (w.status = 'succeeded' OR w.status = 'failed' AND b.asset ->> 'container_status' IS DISTINCT FROM 'ready')
$$;

-- Make a build; its id. One of equal content that has succeeded in the account gives it its image at once, unless `no_cache`.
-- What a key makes that is limited to a repository belongs to that, and only what belongs to the same repository, or as this one to none,
-- gives it an image: such a key says itself what its builds have made. Violates build_waiting_max when `waiting_max` builds wait.
CREATE OR REPLACE FUNCTION build_new(account uuid, given jsonb, paper jsonb, shares boolean, no_cache boolean, time_limit int,
                          limited_to text, waiting_max int)
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
        SELECT x.* INTO known FROM build x JOIN work w ON w.id = x.id
        WHERE x.account_id = account AND x.content = b.content AND x.image IS NOT NULL
          AND lower(w.repo) IS NOT DISTINCT FROM lower(coalesce(limited_to, b.repo)) ORDER BY x.id DESC LIMIT 1;
    END IF;
    IF known.id IS NULL THEN
        PERFORM work_require_room(account, 'build', waiting_max);
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

-- Give the next build to a worker, with what it needs; null: none waits. It is read after the claim, as by run_claim().
CREATE OR REPLACE FUNCTION build_claim(account uuid, repo text, worker text, lease interval, shared_max int) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    claimed work;
BEGIN
    SELECT * INTO claimed FROM work_claim('build', account, repo, worker, lease, shared_max);
    RETURN (SELECT jsonb_build_object('build', build_json(b, claimed), 'context', build_context(b), 'attempt', claimed.attempts,
                                      'lease_until', time_json(claimed.lease_until))
            FROM build b WHERE b.id = claimed.id);
END $$;

-- Take a report of a build. `attempt` null: not from a worker that has claimed it. `outcome`: ok; lost: the work is not this
-- attempt's any more; final: it has ended otherwise; missing.
CREATE OR REPLACE FUNCTION build_report(wanted uuid, account uuid, attempt int, given jsonb, lease interval, OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
    report_digest text := json_digest(given - '{log,attempt}'::text[]);
    state text := given ->> 'status';
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = 'build' AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN w.attempts = coalesce(attempt, w.attempts) AND w.finished_at IS NOT NULL
             AND (SELECT b.report FROM build b WHERE b.id = wanted) IN (report_digest, json_digest(given - 'log')) THEN 'ok'
        WHEN w.attempts = coalesce(attempt, w.attempts) AND w.status = 'cancelled' AND state = 'cancelled' THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN attempt IS NOT NULL AND (w.attempts <> attempt OR w.worker IS NULL OR w.status <> 'running') THEN 'lost'
        ELSE 'new' END;
    IF outcome <> 'new' THEN
        RETURN;
    END IF;
    outcome := 'ok';
    IF attempt IS NOT NULL THEN
        PERFORM work_continue(wanted, given ->> 'log', lease);
    ELSE
        -- One that no worker has is built elsewhere from now on.
        UPDATE work x SET status = 'running', is_claimable = x.is_claimable AND x.worker IS NOT NULL,
            started_at = coalesce(x.started_at, now()),
            deadline_at = coalesce(x.deadline_at, now() + make_interval(secs => x.timeout_seconds))
        WHERE x.id = wanted;
        PERFORM log_add(wanted, given ->> 'log');
    END IF;
    IF state = 'building' THEN
        RETURN;
    END IF;
    UPDATE build b SET report = report_digest, image = CASE state WHEN 'succeeded' THEN given ->> 'image' END,
                       digest = CASE state WHEN 'succeeded' THEN given ->> 'digest' END WHERE b.id = wanted;
    PERFORM work_end(wanted, state, CASE state
        WHEN 'failed' THEN coalesce(nullif(given -> 'error', 'null'), fault_json('environment', 'The image was not built.'))
        WHEN 'cancelled' THEN fault_json('cancelled', 'The worker cancelled it.') END);
END $$;

-- What waited for a build can be claimed, or has failed with it.
CREATE OR REPLACE FUNCTION build_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    waiting uuid;
BEGIN
    PERFORM build_share(NEW.id);
    FOR waiting IN SELECT w.id FROM run r JOIN work w USING (id)
                   WHERE r.build_id = NEW.id AND w.finished_at IS NULL AND r.target = 'worker' ORDER BY w.id
                   FOR UPDATE OF w LOOP
        IF NEW.status = 'succeeded' THEN
            UPDATE work w SET is_claimable = true, turn = work_turn('run', w.account_id) WHERE w.id = waiting;
        ELSE
            PERFORM work_end(waiting, 'failed', fault_json('environment', 'The build ' || NEW.id || ' has not succeeded.'));
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER build_ended AFTER UPDATE OF finished_at ON work FOR EACH ROW
WHEN (NEW.kind = 'build' AND NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL) EXECUTE FUNCTION build_ended();
