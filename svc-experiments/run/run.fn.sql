-- A run on the server: its steps, and what ends it.

-- Whether an implementation is before its pull request and its end.
CREATE OR REPLACE FUNCTION implementation_is_under_way(pipeline_status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT pipeline_status IN ('queued', 'assembling_context', 'dispatching', 'running')
$$;

-- The key under which the money of a run is reserved.
CREATE OR REPLACE FUNCTION implementation_key(experiment uuid, attempt int) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'implementation ' || experiment || ' ' || attempt;

-- What starting a run of an experiment comes to, and its attempt and target.
--
--   outcome  `started`, `no_experiment`, `in_flight`, `has_pull_request`, `no_launch_context`, `no_target_repo` or
--            `bad_target_repo`
CREATE OR REPLACE FUNCTION implementation_next(e experiment, OUT outcome text, OUT attempt int, OUT target text) LANGUAGE plpgsql STABLE AS $$
DECLARE
    newest implementation;
BEGIN
    SELECT i.* INTO newest FROM implementation i WHERE i.experiment_id = e.id ORDER BY i.attempt DESC LIMIT 1;
    attempt := coalesce(newest.attempt, 0) + 1;
    target := btrim(e.launch_context ->> 'target_repo');
    outcome := CASE
        WHEN e.id IS NULL THEN 'no_experiment'
        WHEN newest.task_id IS NOT NULL AND newest.finished_at IS NULL AND implementation_is_under_way(e.pipeline_status)
            THEN 'in_flight'
        WHEN e.pr_url IS NOT NULL THEN 'has_pull_request'
        WHEN e.launch_context IS NULL THEN 'no_launch_context'
        WHEN coalesce(target, '') = '' THEN 'no_target_repo'
        WHEN target !~ '^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$' THEN 'bad_target_repo'
        ELSE 'started' END;
END $$;

-- Start a run; `outcome` is that of implementation_next().
CREATE OR REPLACE FUNCTION implementation_start(account uuid, experiment uuid, by_key uuid, step_names text[], request_id text,
                                     OUT outcome text, OUT started_task json) LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    n record;
    t task;
BEGIN
    SELECT x.* INTO e FROM experiment x
    WHERE x.id = implementation_start.experiment AND x.account_id = account FOR UPDATE;
    SELECT * INTO n FROM implementation_next(e);
    outcome := n.outcome;
    IF outcome <> 'started' THEN
        RETURN;
    END IF;
    t := task_start('implementation', account, jsonb_build_object('experiment_id', e.id, 'attempt', n.attempt), request_id);
    INSERT INTO implementation (experiment_id, attempt, task_id, started_at, repo)
    VALUES (e.id, n.attempt, t.id, clock_timestamp(), n.target);
    INSERT INTO implementation_step (experiment_id, attempt, position, name)
    SELECT e.id, n.attempt, step.position, step.name FROM unnest(step_names) WITH ORDINALITY AS step (name, position);
    PERFORM implementations_bound(e.id, n.attempt);
    PERFORM experiment_change(e, '{"pipeline_status": "queued"}', by_key, request_id);
    PERFORM audit_emit(account, 'run.triggered', jsonb_build_object('kind', 'repository', 'id', NULL, 'name', n.target),
                       audit_changes('{}', jsonb_build_object('experiment_id', e.id), '{experiment_id}'));
    started_task := task_json(t);
END $$;

-- Lock the experiment of a run that is under way, with its run. No row: it has ended, or was deleted.
CREATE OR REPLACE FUNCTION implementation_lock(of_task uuid) RETURNS SETOF experiment LANGUAGE sql VOLATILE AS $$
    SELECT e.* FROM implementation i JOIN experiment e ON e.id = i.experiment_id
    WHERE i.task_id = of_task AND i.finished_at IS NULL AND implementation_is_under_way(e.pipeline_status)
    FOR UPDATE OF e, i
$$;

-- Begin a step; false: the run has ended.
CREATE OR REPLACE FUNCTION implementation_step_begin(of_task uuid, step text, now_pipeline text, request_id text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
BEGIN
    SELECT * INTO e FROM implementation_lock(of_task);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE implementation_step s SET status = 'running', tries = tries + 1, started_at = coalesce(s.started_at, now()), message = NULL
    FROM implementation i WHERE i.task_id = of_task AND (s.experiment_id, s.attempt, s.name) = (i.experiment_id, i.attempt, step);
    PERFORM experiment_change(e, jsonb_build_object('pipeline_status', now_pipeline), NULL, request_id);
    RETURN true;
END $$;

-- End a step, with what it has found: members that are columns of `implementation`, or `branch_name` of the experiment.
-- False: the run has ended; the workflow run that the step has started nevertheless is noted.
CREATE OR REPLACE FUNCTION implementation_step_end(of_task uuid, step text, its_message text, output jsonb, request_id text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
BEGIN
    SELECT * INTO e FROM implementation_lock(of_task);
    IF NOT FOUND THEN
        UPDATE implementation i SET (run_id, run_url, dispatched_at) =
            (SELECT n.run_id, n.run_url, n.dispatched_at FROM jsonb_populate_record(i, output) n)
        WHERE i.task_id = of_task;
        RETURN false;
    END IF;
    UPDATE implementation_step s SET status = 'completed', message = its_message, finished_at = now()
    FROM implementation i WHERE i.task_id = of_task AND (s.experiment_id, s.attempt, s.name) = (i.experiment_id, i.attempt, step);
    UPDATE implementation i SET (repo, brief, work_branch, run_id, run_url, dispatched_at) =
        (SELECT n.repo, n.brief, n.work_branch, n.run_id, n.run_url, n.dispatched_at FROM jsonb_populate_record(i, output) n)
    WHERE i.task_id = of_task;
    IF output ? 'branch_name' THEN
        PERFORM experiment_change(e, jsonb_build_object('branch_name', output -> 'branch_name'), NULL, request_id);
    END IF;
    RETURN true;
END $$;

-- When the code host is asked again what became of a run, for events that were lost: every quarter of an hour and at the
-- deadline, then hourly.
CREATE OR REPLACE FUNCTION implementation_next_check(deadline_at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN deadline_at > now() THEN least(deadline_at, now() + interval '15 minutes')
                ELSE now() + interval '1 hour' END
$$;

-- The run has ended before its agent was known to be started. Where that was under way already, as a report ended the run or its task
-- failed, the workflow run is cancelled; not that of an agent whose pull request is there.
CREATE OR REPLACE FUNCTION implementation_drop(of_task uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM implementation_stop(e.account_id, i) FROM implementation i JOIN experiment e ON e.id = i.experiment_id
    WHERE i.task_id = of_task AND (i.finished_at IS NOT NULL OR e.pipeline_status <> 'pr_opened')
      AND EXISTS (SELECT FROM implementation_step s WHERE (s.experiment_id, s.attempt, s.name) = (i.experiment_id, i.attempt, 'dispatch')
                                                      AND s.started_at IS NOT NULL AND s.status <> 'completed');
END $$;

-- The agent was started: wait for what becomes of it.
CREATE OR REPLACE FUNCTION implementation_wait(of_task uuid, deadline interval, request_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
BEGIN
    SELECT * INTO e FROM implementation_lock(of_task);
    IF NOT FOUND THEN
        PERFORM implementation_drop(of_task);
        RETURN;
    END IF;
    UPDATE implementation i SET deadline_at = now() + deadline,
        check_at = implementation_next_check(now() + deadline) WHERE i.task_id = of_task;
    UPDATE implementation_step s SET status = 'running', tries = 1, started_at = now(),
        message = 'Waiting for the agent to report, or for its pull request.'
    FROM implementation i WHERE i.task_id = of_task AND (s.experiment_id, s.attempt, s.name) = (i.experiment_id, i.attempt, 'wait');
    PERFORM experiment_change(e, '{"pipeline_status": "running"}', NULL, request_id);
END $$;

-- Steps end with the run, whoever ends it.
CREATE OR REPLACE FUNCTION implementation_steps_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE implementation_step s SET
        status = CASE WHEN NEW.pipeline_status = 'failed' THEN CASE s.status WHEN 'running' THEN 'failed' ELSE 'skipped' END
                      WHEN s.name = 'wait' THEN 'completed' ELSE 'skipped' END,
        message = CASE WHEN NEW.pipeline_status = 'failed' AND s.status = 'running' THEN i.error END,
        finished_at = clock_timestamp()
    FROM implementation i
    WHERE i.experiment_id = NEW.id AND i.attempt = (SELECT max(n.attempt) FROM implementation n WHERE n.experiment_id = NEW.id)
      AND (s.experiment_id, s.attempt) = (i.experiment_id, i.attempt) AND s.status IN ('pending', 'running');
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER implementation_steps_end AFTER UPDATE OF pipeline_status ON experiment FOR EACH ROW
WHEN (NEW.pipeline_status IN ('pr_opened', 'completed', 'failed') AND OLD.pipeline_status <> NEW.pipeline_status)
EXECUTE FUNCTION implementation_steps_end();

-- A run has failed.
CREATE OR REPLACE FUNCTION implementation_fail(e experiment, its_attempt int, its_error text, request_id text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE implementation i SET finished_at = clock_timestamp(), error = its_error
    WHERE i.experiment_id = e.id AND i.attempt = its_attempt;
    PERFORM task_put('reservation_release', e.account_id, jsonb_build_object('key', implementation_key(e.id, its_attempt)), NULL, NULL)
    FROM implementation i WHERE i.experiment_id = e.id AND i.attempt = its_attempt AND i.dispatched_at IS NULL;
    PERFORM experiment_change(e, '{"pipeline_status": "failed"}', NULL, request_id);
END $$;

CREATE OR REPLACE FUNCTION implementation_task_failed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
BEGIN
    SELECT * INTO e FROM implementation_lock(NEW.id);
    IF FOUND THEN
        PERFORM implementation_fail(e, i.attempt, NEW.error, NEW.request_id) FROM implementation i WHERE i.task_id = NEW.id;
        PERFORM implementation_drop(NEW.id);
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER implementation_task_failed AFTER UPDATE OF status ON task FOR EACH ROW
WHEN (NEW.kind = 'implementation' AND NEW.status = 'failed') EXECUTE FUNCTION implementation_task_failed();

-- Notify the account how an implementation has ended, whoever ends it.
CREATE OR REPLACE FUNCTION implementation_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM message_emit('events.experiments', 'implementation.finished', NEW.account_id, jsonb_build_object(
        'experiment_id', NEW.id, 'name', NEW.name, 'repo', i.repo, 'pipeline_status', NEW.pipeline_status, 'pr_url', NEW.pr_url,
        'error', left(i.error, 2000), 'url', '/console/experiments/' || NEW.id))
    FROM (SELECT) AS one LEFT JOIN LATERAL (
        SELECT * FROM implementation n WHERE n.experiment_id = NEW.id ORDER BY n.attempt DESC LIMIT 1) i ON true;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER implementation_announce AFTER UPDATE OF pipeline_status ON experiment FOR EACH ROW
WHEN (NEW.pipeline_status IN ('completed', 'failed', 'cancelled') AND OLD.pipeline_status <> NEW.pipeline_status)
EXECUTE FUNCTION implementation_announce();

-- Queue the job that asks the code host what became of a run.
CREATE OR REPLACE FUNCTION implementation_check(i implementation) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT task_put('implementation_check', e.account_id,
                    jsonb_build_object('experiment_id', i.experiment_id, 'attempt', i.attempt), NULL, NULL)
    FROM experiment e WHERE e.id = i.experiment_id
$$;

-- Queue the job that cancels a workflow run. `run_id` null: the dispatch may be under way.
CREATE OR REPLACE FUNCTION implementation_stop(account uuid, i implementation) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT task_put('workflow_cancel', account,
                    jsonb_build_object('repo', i.repo, 'task_id', i.task_id, 'run_id', i.run_id), NULL, NULL)
$$;

-- What the code host says of a run: `conclusion` of the workflow run, null until it has ended; `pull`, its pull request as
-- svc-integrations describes it, or null. The code host was asked some time ago: what an event has told since of the state stays.
CREATE OR REPLACE FUNCTION implementation_reconcile(experiment uuid, its_attempt int, conclusion text, pull jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    i implementation;
    changes jsonb := '{}';
    pull_at timestamptz;
    has_pull boolean;
    is_late boolean;
BEGIN
    SELECT x.* INTO e FROM experiment x WHERE x.id = implementation_reconcile.experiment FOR UPDATE;
    SELECT n.* INTO i FROM implementation n WHERE n.experiment_id = e.id ORDER BY n.attempt DESC LIMIT 1;
    IF i.attempt IS DISTINCT FROM its_attempt THEN
        RETURN;
    END IF;
    IF jsonb_typeof(pull) = 'object' THEN
        changes := jsonb_build_object('pr_url', pull -> 'html_url', 'branch_name', pull -> 'head');
        pull_at := (pull ->> 'updated_at')::timestamptz;
        IF i.pr_number = (pull ->> 'number')::int
           AND (i.told_at > pull_at OR i.told_at = pull_at AND e.pr_status <> 'open' AND pull ->> 'state' = 'open') THEN
            pull_at := i.told_at;
        ELSE
            changes := changes || jsonb_build_object(
                'pr_status', CASE WHEN (pull ->> 'merged')::boolean THEN 'merged' ELSE pull ->> 'state' END);
        END IF;
        UPDATE implementation n SET pr_number = (pull ->> 'number')::int, told_at = pull_at
        WHERE (n.experiment_id, n.attempt) = (i.experiment_id, i.attempt);
    END IF;
    has_pull := changes ? 'pr_url' OR e.pr_url IS NOT NULL;
    is_late := coalesce(i.deadline_at <= now(), false);
    IF i.finished_at IS NULL AND has_pull THEN
        changes := changes || jsonb_build_object('pipeline_status',
            CASE WHEN conclusion IS NOT NULL OR is_late THEN 'completed' ELSE 'pr_opened' END);
        IF conclusion IS NOT NULL OR is_late THEN
            UPDATE implementation n SET finished_at = clock_timestamp()
            WHERE (n.experiment_id, n.attempt) = (i.experiment_id, i.attempt);
        END IF;
    END IF;
    IF changes <> '{}' THEN
        PERFORM experiment_change(e, changes, NULL, NULL);
    END IF;
    IF i.finished_at IS NOT NULL OR has_pull OR NOT (conclusion IS NOT NULL OR is_late) THEN
        RETURN;
    END IF;
    PERFORM implementation_fail(e, i.attempt, CASE
        WHEN conclusion = 'success' THEN 'the agent''s workflow ended without a pull request'
        WHEN conclusion IS NOT NULL THEN 'the agent''s workflow ended with ' || conclusion
        ELSE 'there was neither a report nor a pull request of the agent until ' || time_json(i.deadline_at) END
        || coalesce(': ' || i.run_url, ''), NULL);
    IF conclusion IS NULL THEN
        PERFORM implementation_stop(e.account_id, i);
    END IF;
END $$;

-- Whether a link is that of a pull request of a repository, by its present name or a former one. Any host is taken for the code host.
CREATE OR REPLACE FUNCTION is_pull_request(url text, repo text, number int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN lower(substring(repository_link_now(url) FROM '(?i)^https?://[^/]+/(.+)$')) = lower(repo) || '/pull/' || number;
END $$;

-- An event of the code host about a pull request. The state of a run's pull request is noted: the times are whole seconds, and of what
-- happened in the same second, the end is the later, however it arrives, unless it was opened again. One that may be the newest run's is
-- asked for. Others are not asked for: nothing would be noted of them (implementation_reconcile()), nor of a run that was not dispatched
-- (follow_load).
CREATE OR REPLACE FUNCTION implementation_pull_update(in_repo text, number int, branch text, state text, at timestamptz, is_reopened boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    is_later boolean := coalesce(state <> 'open' OR is_reopened, false); -- than what else happened in its second
BEGIN
    -- Experiments are locked before their runs, as everywhere; so the time of the last event is looked at once more.
    FOR e IN SELECT x.* FROM experiment x
             WHERE x.id IN (SELECT i.experiment_id FROM implementation i
                            WHERE lower(i.repo) = lower(in_repo) AND i.pr_number = implementation_pull_update.number
                              AND (i.told_at IS NULL OR i.told_at < at OR (i.told_at = at AND is_later)))
               AND is_pull_request(x.pr_url, in_repo, implementation_pull_update.number)
             ORDER BY x.id FOR UPDATE LOOP
        UPDATE implementation i SET told_at = at
        WHERE i.experiment_id = e.id AND lower(i.repo) = lower(in_repo) AND i.pr_number = implementation_pull_update.number
          AND (i.told_at IS NULL OR i.told_at < at OR (i.told_at = at AND is_later));
        IF FOUND THEN
            PERFORM experiment_change(e, jsonb_build_object('pr_status', state), NULL, NULL);
        END IF;
    END LOOP;
    PERFORM implementation_check(i) FROM implementation i JOIN experiment x ON x.id = i.experiment_id
    WHERE lower(i.repo) = lower(in_repo) AND i.pr_number IS NULL AND (i.run_id IS NOT NULL OR i.deadline_at IS NOT NULL)
      AND NOT EXISTS (SELECT FROM implementation later WHERE later.experiment_id = i.experiment_id AND later.attempt > i.attempt)
      AND CASE WHEN x.pr_url IS NULL THEN branch IN ('expops/run-' || i.run_id, i.work_branch)
               ELSE is_pull_request(x.pr_url, in_repo, implementation_pull_update.number) END;
END $$;

-- Deleting an experiment cancels its run.
CREATE OR REPLACE FUNCTION implementation_cancel() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    account uuid;
BEGIN
    SELECT t.account_id INTO account FROM task t WHERE t.id = OLD.task_id;
    IF OLD.finished_at IS NULL AND NOT EXISTS (SELECT FROM deleted_account d WHERE d.id = account)
       AND EXISTS (SELECT FROM implementation_step s WHERE (s.experiment_id, s.attempt) = (OLD.experiment_id, OLD.attempt)
                                                       AND s.name = 'dispatch' AND s.status IN ('running', 'completed')) THEN
        PERFORM implementation_stop(account, OLD);
    END IF;
    UPDATE task t SET status = 'cancelled', turn = NULL, lease_owner = NULL, lease_until = NULL, finished_at = now(),
        message = 'The experiment was deleted.'
    WHERE t.id = OLD.task_id AND t.status IN ('pending', 'running');
    RETURN OLD;
END $$;

CREATE OR REPLACE TRIGGER implementation_cancel BEFORE DELETE ON implementation FOR EACH ROW
WHEN (OLD.task_id IS NOT NULL) EXECUTE FUNCTION implementation_cancel();
