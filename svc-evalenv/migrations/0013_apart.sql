-- What is large is stored apart from the rows that lists and claims read; an account may have a number of queued builds and runs
-- of its own; and a template says how long its runs may take.

-- --- Logs ---------------------------------------------------------------------------------------------------------------------
--
-- The end of what a worker has told of its output. Most heartbeats add to it, and rewrite this row instead of that of the work.
CREATE TABLE work_log (
    work_id uuid PRIMARY KEY REFERENCES work ON DELETE CASCADE,
    tail    text NOT NULL CHECK (char_length(tail) <= 16384)
);
INSERT INTO work_log (work_id, tail) SELECT id, log_tail FROM work WHERE log_tail <> '';

CREATE FUNCTION log_add(wanted uuid, more text) RETURNS void LANGUAGE sql
BEGIN ATOMIC
    INSERT INTO work_log AS l (work_id, tail) SELECT wanted, log_append('', more) WHERE more <> ''
    ON CONFLICT (work_id) DO UPDATE SET tail = log_append(l.tail, more);
    UPDATE work SET log_length = log_length + char_length(more) WHERE id = wanted AND more <> '';
END;

CREATE FUNCTION log_tail(wanted uuid) RETURNS text LANGUAGE sql STABLE
RETURN coalesce((SELECT tail FROM work_log WHERE work_id = wanted), '');

-- Add to the log of work that a worker has, and extend its lease. The caller has locked the row.
CREATE OR REPLACE FUNCTION work_continue(wanted uuid, log text, lease interval) RETURNS timestamptz LANGUAGE sql
BEGIN ATOMIC
    SELECT log_add(wanted, log);
    UPDATE work SET lease_until = now() + lease WHERE id = wanted RETURNING lease_until;
END;

-- Take a report of a build. `attempt` null: not from a worker that has claimed it. `outcome`: ok; lost: the work is not this
-- attempt's any more; final: it has ended otherwise; missing.
CREATE OR REPLACE FUNCTION build_report(wanted uuid, account uuid, attempt int, given jsonb, lease interval, OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
    told text := json_digest(given - '{log,attempt}'::text[]);
    state text := given ->> 'status';
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = 'build' AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN w.attempts = coalesce(attempt, w.attempts) AND w.finished_at IS NOT NULL
             AND (SELECT b.report FROM build b WHERE b.id = wanted) IN (told, json_digest(given - 'log')) THEN 'ok'
        WHEN w.attempts = coalesce(attempt, w.attempts) AND w.status = 'cancelled' AND state = 'cancelled' THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN attempt IS NOT NULL
             AND (w.attempts <> attempt OR w.worker IS NULL OR w.status <> 'running' OR w.lease_until <= now()) THEN 'lost'
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
    UPDATE build b SET report = told, image = CASE state WHEN 'succeeded' THEN given ->> 'image' END,
                       digest = CASE state WHEN 'succeeded' THEN given ->> 'digest' END WHERE b.id = wanted;
    PERFORM work_end(wanted, state, CASE state
        WHEN 'failed' THEN coalesce(nullif(given -> 'error', 'null'), fault_json('environment', 'The image was not built.'))
        WHEN 'cancelled' THEN fault_json('cancelled', 'The worker cancelled it.') END);
END $$;

CREATE OR REPLACE FUNCTION build_json(b build, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'build_id', b.id, 'status', CASE w.status WHEN 'running' THEN 'building' ELSE w.status END, 'source', b.source,
        'repo', b.repo, 'ref', b.ref, 'arxiv_id', b.arxiv_id, 'template_id', b.template -> 'template_id',
        'image', b.image, 'digest', b.digest, 'log_tail', log_tail(w.id),
        'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

-- --- Runs ---------------------------------------------------------------------------------------------------------------------
--
-- A member of a run is in the column of run_large when its text has more than 16 KiB, and that of run is null; else in run.
CREATE TABLE run_large (
    run_id    uuid PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    params    jsonb,
    metrics   jsonb,
    results   jsonb,
    artifacts jsonb
);
ALTER TABLE run ALTER COLUMN params DROP NOT NULL;

CREATE FUNCTION is_large(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(octet_length(value::text) > 16384, false);

-- Store members of a run, each in its place. Those that are null stay as they are.
CREATE FUNCTION run_store(wanted uuid, params jsonb, metrics jsonb, results jsonb, artifacts jsonb) RETURNS void LANGUAGE plpgsql AS $$
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

SELECT run_store(id, params, metrics, results, artifacts) FROM run
WHERE is_large(params) OR is_large(metrics) OR is_large(results) OR is_large(artifacts);

CREATE OR REPLACE FUNCTION run_json(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'name', r.name, 'status', w.status, 'target', r.target, 'template_id', r.template_id,
        'template_version', r.template_version, 'template_digest', r.template_digest, 'build_id', r.build_id,
        'params', coalesce(r.params, l.params), 'timeout_seconds', w.timeout_seconds,
        'metrics', coalesce(r.metrics, l.metrics), 'results', coalesce(r.results, l.results),
        'artifacts', coalesce(r.artifacts, l.artifacts, '[]'), 'log_tail', log_tail(w.id),
        'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
    FROM (SELECT) AS one LEFT JOIN run_large l ON l.run_id = r.id
$$;

-- A run as lists show it: as run_json(), with null in place of what is stored apart. Of that, only the log is read.
CREATE OR REPLACE FUNCTION run_item_json(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'name', r.name, 'status', w.status, 'target', r.target, 'template_id', r.template_id,
        'template_version', r.template_version, 'template_digest', r.template_digest, 'build_id', r.build_id,
        'params', r.params, 'timeout_seconds', w.timeout_seconds, 'metrics', r.metrics, 'results', r.results,
        'artifacts', CASE WHEN l.artifacts IS NULL THEN coalesce(r.artifacts, '[]') END,
        'log_tail', CASE WHEN octet_length(log.tail) <= 16384 THEN log.tail END,
        'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
    FROM (SELECT log_tail(w.id) AS tail OFFSET 0) AS log
    LEFT JOIN run_large l ON l.run_id = r.id
$$;
DROP FUNCTION json_unless_large(jsonb);

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

-- Tell others how a run has ended.
CREATE OR REPLACE FUNCTION run_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.eval', 'run.' || NEW.status, NEW.account_id, jsonb_build_object(
        'run_id', r.id, 'status', NEW.status, 'template_id', r.template_id, 'template_version', r.template_version,
        'template_digest', r.template_digest, 'params', CASE WHEN octet_length(r.params::text) <= 8192 THEN r.params END,
        'experiment_id', coalesce(r.params, l.params) -> 'experiment_id', 'error', NEW.error, 'metrics', r.metrics,
        'finished_at', time_json(NEW.finished_at)))
    FROM run r LEFT JOIN run_large l ON l.run_id = r.id WHERE r.id = NEW.id;
    RETURN NULL;
END $$;

-- Take a delivery of a result. `attempt` null: not from a worker that has claimed the run. `outcome`: ok; known: the delivery was
-- taken before; lost: the run is not this attempt's any more; final: it has ended otherwise; missing: no such run.
--
-- Numbers are kept only where the evaluation itself has run: never from a fault of the environment, a lost worker, a time limit or
-- a cancelled run.
CREATE OR REPLACE FUNCTION run_result(wanted uuid, account uuid, attempt int, given jsonb, delivery text, lease interval,
                                      OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
    r run;
    told text := json_digest(given - 'attempt');
    state text;
    fault jsonb;
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = 'run' AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    SELECT * INTO r FROM run x WHERE x.id = wanted;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN EXISTS (SELECT FROM delivery d WHERE d.run_id = wanted AND d.delivery_id = delivery) THEN 'known'
        WHEN attempt <> w.attempts THEN 'lost'
        WHEN w.finished_at IS NOT NULL AND r.result IN (told, json_digest(given)) THEN 'ok'
        WHEN w.status = 'cancelled' AND given ->> 'status' = 'cancelled' THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN attempt IS NOT NULL AND (w.worker IS NULL OR w.status <> 'running' OR w.lease_until <= now()) THEN 'lost' END;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    outcome := 'ok';
    IF delivery IS NOT NULL THEN
        INSERT INTO delivery (account_id, delivery_id, run_id) VALUES (w.account_id, delivery, wanted);
    END IF;
    UPDATE run x SET call_id = coalesce(x.call_id, given ->> 'call_id') WHERE x.id = wanted;
    IF given ->> 'status' = 'pending' THEN
        RETURN;
    ELSIF given ->> 'status' = 'running' THEN
        -- One that no worker has runs elsewhere from now on.
        UPDATE work x SET status = 'running', is_claimable = x.is_claimable AND x.worker IS NOT NULL,
            started_at = coalesce(x.started_at, now()),
            deadline_at = coalesce(x.deadline_at, now() + make_interval(secs => x.timeout_seconds)),
            lease_until = CASE WHEN attempt IS NOT NULL THEN now() + lease ELSE x.lease_until END
        WHERE x.id = wanted;
        RETURN;
    END IF;
    SELECT f.state, f.fault INTO state, fault FROM result_fault(r, given) f;
    UPDATE run x SET result = told WHERE x.id = wanted;
    PERFORM run_store(wanted, NULL,
                      CASE WHEN fault IS NULL OR fault ->> 'kind' = 'task' THEN nullif(given -> 'metrics', 'null') END,
                      nullif(given -> 'results', 'null'), nullif(given -> 'artifacts', 'null'));
    PERFORM work_end(wanted, state, fault);
END $$;

ALTER TABLE work DROP COLUMN log_tail;

-- --- Bounds -------------------------------------------------------------------------------------------------------------------

DROP TRIGGER work_bound ON work;
DROP FUNCTION work_bound();
DROP INDEX work_unfinished;
CREATE INDEX work_waiting ON work (account_id, kind) WHERE status = 'queued';

-- Raise a violation of the constraint `name` unless the account has room for one more: `counted` of `most`. Near the end, requests
-- of the account take turns until they commit, and count again, so that they do not exceed it together; then `is_certain`.
CREATE FUNCTION room_require(account uuid, name text, counted bigint, most int, is_certain boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF counted >= most THEN
        RAISE unique_violation USING MESSAGE = 'the account has as many as it may', CONSTRAINT = name;
    END IF;
    IF NOT is_certain AND counted >= most - 100 THEN
        PERFORM account_lock(account, false);
        PERFORM FROM account_guard WHERE id = account FOR NO KEY UPDATE; -- does not wait for those that insert
        RETURN false;
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION work_waiting(account uuid, kind text, most int) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*) FROM (SELECT FROM work w WHERE w.account_id = $1 AND w.kind = $2 AND w.status = 'queued' LIMIT most) AS waiting
$$;

-- Room for one more build or run that waits for a worker.
CREATE FUNCTION work_require_room(account uuid, kind text, most int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT room_require(account, kind || '_waiting_max', work_waiting(account, kind, most), most, false) THEN
        PERFORM room_require(account, kind || '_waiting_max', work_waiting(account, kind, most), most, true);
    END IF;
END $$;

-- Make a build; its id. One of equal content that has succeeded in the account gives it its image at once, unless `no_cache`.
-- What a key makes that is limited to a repository belongs to that. Violates build_waiting_max when `waiting_max` builds wait.
CREATE FUNCTION build_new(account uuid, given jsonb, paper jsonb, shares boolean, no_cache boolean, time_limit int,
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
        SELECT * INTO known FROM build x
        WHERE x.account_id = account AND x.content = b.content AND x.image IS NOT NULL ORDER BY x.id DESC LIMIT 1;
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

-- The same for processes of the former version.
CREATE OR REPLACE FUNCTION build_new(account uuid, given jsonb, paper jsonb, shares boolean, no_cache boolean, time_limit int,
                                     limited_to text)
RETURNS uuid LANGUAGE sql AS $$
    SELECT build_new(account, given, paper, shares, no_cache, time_limit, limited_to, 10000)
$$;

-- The seconds that a template gives its runs; null: it does not say.
CREATE FUNCTION spec_timeout(spec jsonb) RETURNS int LANGUAGE sql IMMUTABLE
RETURN CASE WHEN jsonb_typeof(spec #> '{resources,timeout_seconds}') = 'number'
            THEN least(greatest((spec #> '{resources,timeout_seconds}')::numeric, 1), 604800)::int END;

-- Make a run. A template that has a container file is built for it, unless an equal build has its image. Of the time limits of the
-- run and of its template the shorter one holds, and without them an hour. Violates run_waiting_max when `waiting_max` runs wait.
-- `outcome`: ok; template, build or `template build`: these are none of the account's; failed: its build has failed.
CREATE FUNCTION run_new(account uuid, given jsonb, build_time_limit int, limited_to text, waiting_max int,
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
    SELECT * INTO t FROM template x WHERE x.id = r.template_id AND x.account_id = account;
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

-- The same for processes of the former version.
CREATE OR REPLACE FUNCTION run_new(account uuid, given jsonb, build_time_limit int, limited_to text, OUT outcome text, OUT made uuid)
LANGUAGE sql AS $$
    SELECT CASE n.outcome WHEN 'template build' THEN 'template' ELSE n.outcome END, n.made
    FROM run_new(account, given, build_time_limit, limited_to, 10000) n
$$;

CREATE FUNCTION template_count(account uuid) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*) FROM template t WHERE t.account_id = account
$$;

-- Make a template. Violates template_max when the account has `most`.
CREATE FUNCTION template_new(account uuid, id uuid, body jsonb, secret bytea, most int) RETURNS template LANGUAGE plpgsql AS $$
DECLARE
    made template;
BEGIN
    IF NOT room_require(account, 'template_max', template_count(account), most, false) THEN
        PERFORM room_require(account, 'template_max', template_count(account), most, true);
    END IF;
    INSERT INTO template AS t (id, account_id, name, description, spec, secret)
    SELECT template_new.id, account, n.name, n.description, n.spec, template_new.secret
    FROM jsonb_populate_record(NULL::template, body) n
    RETURNING t.* INTO made;
    RETURN made;
END $$;
