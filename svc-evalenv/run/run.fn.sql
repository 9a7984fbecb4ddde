-- Whether a member of a run is stored apart, in run_large.
CREATE OR REPLACE FUNCTION is_large(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(octet_length(value::text) > 16384, false);

-- Store members of a run, each in its place. Those that are null stay as they are.
CREATE OR REPLACE FUNCTION run_store(wanted uuid, params jsonb, metrics jsonb, results jsonb, artifacts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    apart run_large;
BEGIN
    apart.params := CASE WHEN is_large(params) THEN params END;
    apart.metrics := CASE WHEN is_large(metrics) THEN metrics END;
    apart.results := CASE WHEN is_large(results) THEN results END;
    apart.artifacts := CASE WHEN is_large(artifacts) THEN artifacts END;
    UPDATE run r SET
        params = CASE WHEN apart.params IS NULL THEN coalesce(run_store.params, r.params) END,
        metrics = CASE WHEN apart.metrics IS NULL THEN coalesce(run_store.metrics, r.metrics) END,
        results = CASE WHEN apart.results IS NULL THEN coalesce(run_store.results, r.results) END,
        artifacts = CASE WHEN apart.artifacts IS NULL THEN coalesce(run_store.artifacts, r.artifacts) END
    WHERE r.id = wanted;
    IF num_nonnulls(apart.params, apart.metrics, apart.results, apart.artifacts) > 0 THEN
        INSERT INTO run_large AS l VALUES (wanted, apart.params, apart.metrics, apart.results, apart.artifacts)
        ON CONFLICT (run_id) DO UPDATE SET
            params = coalesce(apart.params, l.params), metrics = coalesce(apart.metrics, l.metrics),
            results = coalesce(apart.results, l.results), artifacts = coalesce(apart.artifacts, l.artifacts);
    END IF;
END $$;

-- The members of a run that are never stored apart.
CREATE OR REPLACE FUNCTION run_small_json(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'name', r.name, 'status', w.status, 'target', r.target, 'template_id', r.template_id,
        'template_version', r.template_version, 'template_digest', r.template_digest, 'build_id', r.build_id,
        'timeout_seconds', w.timeout_seconds, 'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

-- A run as the API shows it.
CREATE OR REPLACE FUNCTION run_json(r run, w work) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT run_small_json(r, w) || jsonb_build_object(
        'params', coalesce(r.params, l.params), 'metrics', coalesce(r.metrics, l.metrics),
        'results', coalesce(r.results, l.results), 'artifacts', coalesce(r.artifacts, l.artifacts, '[]'),
        'log_tail', log_tail(w.id))
    FROM (SELECT) AS one LEFT JOIN run_large l ON l.run_id = r.id);
END $$;

-- A run as lists show it: as run_json(), with null in place of what is stored apart. Of that, only the log is read.
CREATE OR REPLACE FUNCTION run_item_json(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT run_small_json(r, w) || jsonb_build_object(
        'params', r.params, 'metrics', r.metrics, 'results', r.results,
        'artifacts', CASE WHEN l.artifacts IS NULL THEN coalesce(r.artifacts, '[]') END,
        'log_tail', CASE WHEN octet_length(log.tail) <= 16384 THEN log.tail END)
    FROM (SELECT log_tail(w.id) AS tail OFFSET 0) AS log
    LEFT JOIN run_large l ON l.run_id = r.id
$$;

-- What a worker needs to run it.
CREATE OR REPLACE FUNCTION run_context(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'template', CASE WHEN v.version IS NOT NULL THEN jsonb_build_object(
            'template_id', r.template_id, 'version', v.version, 'digest', v.digest, 'spec', v.spec) END,
        'image', coalesce(b.image, v.spec ->> 'image'), 'command', v.spec -> 'command',
        'env', coalesce(v.spec -> 'env', '{}'), 'params', coalesce(r.params, l.params), 'timeout_seconds', w.timeout_seconds)
    FROM (SELECT) AS one
    LEFT JOIN template_version v ON v.template_id = r.template_id AND v.version = r.template_version
    LEFT JOIN build b ON b.id = r.build_id
    LEFT JOIN run_large l ON l.run_id = r.id
$$;

-- Give the next run to a worker, with what it needs; null: none waits. It is read after the claim, which may see a run, or the image of
-- its build, that was committed after this function began.
CREATE OR REPLACE FUNCTION run_claim(account uuid, repo text, worker text, lease interval, shared_max int) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    claimed work;
BEGIN
    SELECT * INTO claimed FROM work_claim('run', account, repo, worker, lease, shared_max);
    RETURN (SELECT jsonb_build_object('run', run_json(r, claimed), 'context', run_context(r, claimed), 'attempt', claimed.attempts,
                                      'lease_until', time_json(claimed.lease_until))
            FROM run r WHERE r.id = claimed.id);
END $$;

-- Make a run. A template that has a container file is built for it, unless an equal build has its image. Of the time limits of the
-- run and of its template the shorter one holds, and without them an hour. A key that is limited to a repository uses the templates
-- of that. Violates run_waiting_max when `waiting_max` runs wait. `outcome`: ok; template, build or `template build`: these are none
-- of the account's; failed: its build has failed.
CREATE OR REPLACE FUNCTION run_new(account uuid, given jsonb, build_time_limit int, limited_to text, waiting_max int,
                                   OUT outcome text, OUT made uuid)
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
    SELECT * INTO t FROM template x WHERE x.id = r.template_id AND x.account_id = account
                                     AND (limited_to IS NULL OR lower(x.repo) = lower(limited_to));
    -- With the row locked, the build cannot end between this and the commit: its end sees the run.
    SELECT * INTO built FROM work w WHERE w.id = r.build_id AND w.kind = 'build' AND w.account_id = account FOR SHARE;
    outcome := nullif(concat_ws(' ', CASE WHEN r.template_id IS NOT NULL AND t.id IS NULL THEN 'template' END,
                                     CASE WHEN r.build_id IS NOT NULL AND built.id IS NULL THEN 'build' END), '');
    IF outcome IS NULL AND built.finished_at IS NOT NULL AND built.status <> 'succeeded' THEN
        outcome := 'failed';
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM work_require_room(account, 'run', waiting_max);
    IF r.build_id IS NULL AND NOT is_hosted AND t.spec ? 'containerfile' THEN
        r.build_id := build_new(account, jsonb_build_object(
            'source', 'containerfile', 'containerfile', t.spec ->> 'containerfile', 'template', jsonb_build_object(
                'template_id', t.id, 'version', t.version, 'digest', t.digest, 'spec', t.spec)),
            NULL, false, false, build_time_limit, limited_to, waiting_max);
        SELECT * INTO built FROM work w WHERE w.id = r.build_id FOR SHARE;
    END IF;
    INSERT INTO work (id, kind, account_id, repo, timeout_seconds, turn, is_claimable)
    VALUES (r.id, 'run', account, coalesce(limited_to, built.repo),
            coalesce(least((given ->> 'timeout_seconds')::numeric::int, spec_timeout(t.spec)), 3600),
            work_turn('run', account), NOT is_hosted AND coalesce(built.status, 'succeeded') = 'succeeded');
    INSERT INTO run (id, account_id, name, target, template_id, template_version, template_digest, build_id)
    VALUES (r.id, account, r.name, r.target, t.id, t.version, t.digest, r.build_id);
    PERFORM run_store(r.id, coalesce(r.params, '{}'), NULL, NULL, NULL);
    outcome := 'ok';
    made := r.id;
END $$;

-- The examples of a run's results as other services read them; null: there are none.
CREATE OR REPLACE FUNCTION run_examples(examples jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_agg(jsonb_build_object('id', e.one -> 'id', 'group', e.one -> 'group', 'sample', e.one -> 'sample',
                                        'metrics', e.one -> 'metrics') ORDER BY e.place)
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(examples) = 'array' THEN examples ELSE '[]' END) WITH ORDINALITY AS e (one, place)
    WHERE jsonb_typeof(e.one) = 'object'
$$;

-- The arm of an experiment that the params of a run name; null: they name none.
CREATE OR REPLACE FUNCTION run_arm(params jsonb) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN char_length(params ->> 'arm') <= 100 THEN params ->> 'arm' END;

-- Notify others how a run has ended.
CREATE OR REPLACE FUNCTION run_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.eval', 'run.' || NEW.status, NEW.account_id, jsonb_build_object(
        'run_id', r.id, 'status', NEW.status, 'template_id', r.template_id, 'template_version', r.template_version,
        'template_digest', r.template_digest, 'params', CASE WHEN octet_length(r.params::text) <= 8192 THEN r.params END,
        'experiment_id', coalesce(r.params, l.params) -> 'experiment_id', 'arm', run_arm(coalesce(r.params, l.params)),
        'error', NEW.error, 'metrics', r.metrics,
        'finished_at', time_json(NEW.finished_at)))
    FROM run r LEFT JOIN run_large l ON l.run_id = r.id WHERE r.id = NEW.id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER run_ended AFTER UPDATE OF finished_at ON work FOR EACH ROW
WHEN (NEW.kind = 'run' AND NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL) EXECUTE FUNCTION run_ended();

-- Notify the account how a build or run has ended.
CREATE OR REPLACE FUNCTION work_announce() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    its jsonb;
BEGIN
    IF NEW.kind = 'run' THEN
        SELECT jsonb_build_object('run_id', r.id, 'template_id', r.template_id, 'build_id', r.build_id, 'metrics', r.metrics) INTO its
        FROM run r WHERE r.id = NEW.id;
    ELSE
        SELECT jsonb_build_object('build_id', b.id, 'template_id', b.template -> 'template_id', 'image', b.image) INTO its
        FROM build b WHERE b.id = NEW.id;
    END IF;
    PERFORM message_emit('events.eval', format('eval.%s_finished', NEW.kind), NEW.account_id, its || jsonb_build_object(
        'status', NEW.status, 'repo', CASE WHEN NEW.repo !~ '://' THEN NEW.repo END, 'error', NEW.error, 'started_at', time_json(NEW.started_at),
        'finished_at', time_json(NEW.finished_at), 'url', '/console/evaluations'), NEW.request_id);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER work_announced AFTER UPDATE OF finished_at ON work FOR EACH ROW
WHEN (NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL) EXECUTE FUNCTION work_announce();
