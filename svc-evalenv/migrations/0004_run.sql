-- Runs of evaluations.
--
--   target            worker, or hosted: a platform runs it and delivers the result
--   template_version  that it was made with, and its digest; null: it has no template
--   build_id          whose image it uses; it waits until that is built. Null: the template names an image
--   call_id           what the hosted platform calls it; null: unknown
--   result            digest of the delivery that ended it: the same one again changes nothing
CREATE TABLE run (
    id               uuid PRIMARY KEY REFERENCES work ON DELETE CASCADE,
    account_id       uuid NOT NULL,
    name             text,
    target           text NOT NULL CHECK (target IN ('worker', 'hosted')),
    template_id      uuid,
    template_version int,
    template_digest  text,
    build_id         uuid REFERENCES build,
    params           jsonb NOT NULL DEFAULT '{}',
    metrics          jsonb,
    results          jsonb,
    artifacts        jsonb,
    call_id          text,
    result           text,
    FOREIGN KEY (template_id, template_version) REFERENCES template_version (template_id, version)
);

CREATE INDEX run_list ON run (account_id, id);
CREATE INDEX run_of_build ON run (build_id) WHERE build_id IS NOT NULL;
CREATE UNIQUE INDEX run_call ON run (account_id, call_id) WHERE call_id IS NOT NULL;

CREATE FUNCTION run_json(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'name', r.name, 'status', w.status, 'target', r.target, 'template_id', r.template_id,
        'template_version', r.template_version, 'template_digest', r.template_digest, 'build_id', r.build_id,
        'params', r.params, 'timeout_seconds', w.timeout_seconds, 'metrics', r.metrics, 'results', r.results,
        'artifacts', coalesce(r.artifacts, '[]'), 'log_tail', w.log_tail, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

-- What a worker needs to run it.
CREATE FUNCTION run_context(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'template', CASE WHEN v.version IS NOT NULL THEN jsonb_build_object(
            'template_id', r.template_id, 'version', v.version, 'digest', v.digest, 'spec', v.spec) END,
        'image', coalesce(b.image, v.spec ->> 'image'), 'command', v.spec -> 'command',
        'env', coalesce(v.spec -> 'env', '{}'), 'params', r.params, 'timeout_seconds', w.timeout_seconds)
    FROM (SELECT) AS one
    LEFT JOIN template_version v ON v.template_id = r.template_id AND v.version = r.template_version
    LEFT JOIN build b ON b.id = r.build_id
$$;

-- Make a run. A template that has a container file is built for it, unless an equal build has its image. `outcome`: ok,
-- template or build: it is not one of the account's; failed: its build has failed.
CREATE FUNCTION run_new(account uuid, given jsonb, build_time_limit int, limited_to text, OUT outcome text, OUT made uuid)
LANGUAGE plpgsql AS $$
DECLARE
    r run;
    t template;
    built work;
    is_hosted boolean;
BEGIN
    r := jsonb_populate_record(NULL::run, given);
    r.id := uuid_v7();
    is_hosted := r.target = 'hosted';
    IF r.template_id IS NOT NULL THEN
        SELECT * INTO t FROM template x WHERE x.id = r.template_id AND x.account_id = account;
        IF t.id IS NULL THEN
            outcome := 'template';
            RETURN;
        END IF;
    END IF;
    IF r.build_id IS NULL AND NOT is_hosted AND t.spec ? 'containerfile' THEN
        r.build_id := build_new(account, jsonb_build_object(
            'source', 'containerfile', 'containerfile', t.spec ->> 'containerfile', 'template', jsonb_build_object(
                'template_id', t.id, 'version', t.version, 'digest', t.digest, 'spec', t.spec)),
            NULL, false, false, build_time_limit, limited_to);
    END IF;
    IF r.build_id IS NOT NULL THEN
        -- With the row locked, the build cannot end between this and the commit: its end sees the run.
        SELECT * INTO built FROM work w WHERE w.id = r.build_id AND w.kind = 'build' AND w.account_id = account FOR SHARE;
        outcome := CASE WHEN built.id IS NULL THEN 'build'
                        WHEN built.finished_at IS NOT NULL AND built.status <> 'succeeded' THEN 'failed' END;
        IF outcome IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    INSERT INTO work (id, kind, account_id, repo, timeout_seconds, turn, is_claimable)
    VALUES (r.id, 'run', account, coalesce(limited_to, built.repo), (given ->> 'timeout_seconds')::int,
            work_turn('run', account), NOT is_hosted AND coalesce(built.status, 'succeeded') = 'succeeded');
    INSERT INTO run (id, account_id, name, target, template_id, template_version, template_digest, build_id, params)
    VALUES (r.id, account, r.name, r.target, t.id, t.version, t.digest, r.build_id, coalesce(r.params, '{}'));
    outcome := 'ok';
    made := r.id;
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

-- Tell others how a run has ended.
CREATE FUNCTION run_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.eval', 'run.' || NEW.status, NEW.account_id, jsonb_build_object(
        'run_id', r.id, 'status', NEW.status, 'template_id', r.template_id, 'template_version', r.template_version,
        'template_digest', r.template_digest, 'params', CASE WHEN octet_length(r.params::text) <= 8192 THEN r.params END,
        'experiment_id', r.params -> 'experiment_id', 'error', NEW.error,
        'metrics', CASE WHEN octet_length(r.metrics::text) <= 16384 THEN r.metrics END,
        'finished_at', time_json(NEW.finished_at)))
    FROM run r WHERE r.id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER run_ended AFTER UPDATE OF finished_at ON work FOR EACH ROW
WHEN (NEW.kind = 'run' AND NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL) EXECUTE FUNCTION run_ended();
