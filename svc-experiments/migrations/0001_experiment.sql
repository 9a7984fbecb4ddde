-- Experiments, the projects that they belong to, and what was changed about them by whom.
CREATE TABLE project (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id  uuid NOT NULL,
    name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    description text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT project_of_account UNIQUE (account_id, id)
);

CREATE UNIQUE INDEX project_name ON project (account_id, name);

-- The columns bear the names of the API's members, so that a body can be read as a row.
--
--   version          rises by one with each change; the ETag
--   source_type      where the idea is from; with source_ref and created_via given once and for all
--   linked_resources [{"type", "id", "title", "url"}]
--   pipeline_status  how far its implementation is; the attempts are in `implementation`
CREATE TABLE experiment (
    id                 uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id         uuid NOT NULL,
    version            bigint NOT NULL DEFAULT 1,
    name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 500),
    status             text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'running', 'complete', 'analyzing',
                                                            'shipped', 'iterating', 'rejected', 'abandoned')),
    hypothesis         text,
    outcome            text CHECK (outcome IN ('ship', 'iterate', 'abandon')),
    decision           text,
    observed_delta     double precision CHECK (observed_delta BETWEEN '-1.7976931348623157e308' AND '1.7976931348623157e308'),
    delta_confidence   text CHECK (delta_confidence IN ('significant', 'inconclusive', 'not_tested')),
    target_metric      text,
    tags               text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 32),
    pr_url             text,
    pr_status          text,
    external_ticket_id text,
    ticket_source      text,
    ticket_url         text,
    project_id         uuid,
    source_type        text NOT NULL DEFAULT 'manual' CHECK (source_type IN ('arxiv_paper', 'code_repo', 'ticket', 'manual')),
    source_ref         text,
    launch_context     jsonb CHECK (jsonb_typeof(launch_context) = 'object'),
    ab_test_config     jsonb CHECK (jsonb_typeof(ab_test_config) = 'object'),
    ab_test_results    jsonb CHECK (jsonb_typeof(ab_test_results) = 'object'),
    linked_resources   jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(linked_resources) = 'array'),
    created_via        text NOT NULL DEFAULT 'api',
    pipeline_status    text NOT NULL DEFAULT 'idle' CHECK (pipeline_status IN ('idle', 'queued', 'assembling_context',
                                 'dispatching', 'running', 'pr_opened', 'completed', 'failed', 'cancelled')),
    branch_name        text,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT experiment_project FOREIGN KEY (account_id, project_id) REFERENCES project (account_id, id)
);

-- One for each filter of the list, in the list's order: ids are version 7, so the newest has the greatest.
CREATE INDEX experiment_newest ON experiment (account_id, id DESC);
CREATE INDEX experiment_by_status ON experiment (account_id, status, id DESC);
CREATE INDEX experiment_by_project ON experiment (account_id, project_id, id DESC);
CREATE INDEX experiment_by_via ON experiment (account_id, created_via, id DESC);
CREATE INDEX experiment_by_ticket ON experiment (account_id, external_ticket_id, id DESC)
    WHERE external_ticket_id IS NOT NULL;
CREATE INDEX experiment_by_ticket_source ON experiment (account_id, ticket_source, id DESC)
    WHERE ticket_source IS NOT NULL;
CREATE INDEX experiment_actionable ON experiment (account_id, id DESC) INCLUDE (project_id)
    WHERE launch_context IS NOT NULL AND pr_url IS NULL;

-- A row a changed field; ascending ids are the order of the changes.
CREATE TABLE experiment_history (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    at            timestamptz NOT NULL,
    field         text NOT NULL,
    was           jsonb NOT NULL,
    becomes       jsonb NOT NULL,
    by_key        uuid -- null: the service itself
);

CREATE INDEX experiment_history_newest ON experiment_history (experiment_id, id DESC);

-- A row an attempt at implementing an experiment.
CREATE TABLE implementation (
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    attempt       int NOT NULL CHECK (attempt > 0),
    task_id       uuid, -- of the server-side run; null: an agent works by itself
    started_at    timestamptz NOT NULL,
    finished_at   timestamptz,
    error         text,
    PRIMARY KEY (experiment_id, attempt)
);

-- What agents reported, each text once in an attempt.
CREATE TABLE report (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id uuid NOT NULL,
    attempt       int NOT NULL,
    digest        bytea NOT NULL, -- SHA-256 of the report as it came
    summary       text,
    artifacts     jsonb,
    by_key        uuid,
    at            timestamptz NOT NULL,
    UNIQUE (experiment_id, attempt, digest),
    FOREIGN KEY (experiment_id, attempt) REFERENCES implementation ON DELETE CASCADE
);

CREATE INDEX report_newest ON report (experiment_id, id DESC);

-- Accounts that are no more: a request that was under way when one was deleted leaves nothing behind.
CREATE TABLE deleted_account (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION account_required() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM deleted_account WHERE id = NEW.account_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER account_required BEFORE INSERT ON project FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER account_required BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_required();

CREATE FUNCTION project_json(p project) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', p.id, 'name', p.name, 'description', p.description,
        'experiments_count', (SELECT count(*) FROM experiment e
                              WHERE e.account_id = p.account_id AND e.project_id = p.id),
        'created_at', time_json(p.created_at), 'updated_at', time_json(p.updated_at))
$$;

-- An experiment as lists show it.
CREATE FUNCTION experiment_json(e experiment, project_name text) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', e.id, 'name', e.name, 'status', e.status, 'hypothesis', e.hypothesis, 'outcome', e.outcome,
        'decision', e.decision, 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'target_metric', e.target_metric, 'tags', e.tags, 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'external_ticket_id', e.external_ticket_id, 'ticket_source', e.ticket_source, 'ticket_url', e.ticket_url,
        'project_id', e.project_id, 'project_name', project_name, 'created_via', e.created_via,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- An experiment with all that is known of it. Volatile, so that it sees what the statement that calls it has changed.
CREATE FUNCTION experiment_detail_json(e experiment) RETURNS json LANGUAGE sql VOLATILE AS $$
    SELECT json_build_object(
        'id', e.id, 'name', e.name, 'status', e.status, 'hypothesis', e.hypothesis, 'outcome', e.outcome,
        'decision', e.decision, 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'target_metric', e.target_metric, 'tags', e.tags, 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'external_ticket_id', e.external_ticket_id, 'ticket_source', e.ticket_source, 'ticket_url', e.ticket_url,
        'project_id', e.project_id, 'project_name', (SELECT p.name FROM project p WHERE p.id = e.project_id),
        'created_via', e.created_via, 'source_type', e.source_type, 'source_ref', e.source_ref,
        'launch_context', e.launch_context, 'ab_test_config', e.ab_test_config, 'ab_test_results', e.ab_test_results,
        'linked_resources', e.linked_resources, 'pipeline_status', e.pipeline_status, 'branch_name', e.branch_name,
        'history', (SELECT coalesce(json_agg(json_build_object('at', time_json(h.at), 'field', h.field, 'from', h.was,
                                                               'to', h.becomes, 'by', h.by_key) ORDER BY h.id DESC), '[]')
                    FROM experiment_history h WHERE h.experiment_id = e.id),
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- The arXiv ids of the papers that an experiment is about, without version; the first is the one that it came from.
CREATE FUNCTION experiment_papers(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(paper ORDER BY place), '[]')
    FROM (SELECT regexp_replace(btrim(paper), '^(https?://arxiv\.org/(abs|pdf)/|arxiv:)|v[0-9]+$', '', 'gi') AS paper,
                 min(place) AS place
          FROM (SELECT e.launch_context #>> '{resource,arxiv_id}' AS paper, 0 AS place
                UNION ALL SELECT e.source_ref, 1 WHERE e.source_type = 'arxiv_paper'
                UNION ALL SELECT r.link ->> 'id', 1 + r.place
                FROM jsonb_array_elements(e.linked_resources) WITH ORDINALITY AS r (link, place)
                WHERE r.link ->> 'type' = 'arxiv_paper') named
          WHERE paper <> '' GROUP BY 1) papers
$$;

-- What the stream events.experiments says of an experiment.
CREATE FUNCTION experiment_event(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', e.id, 'version', e.version, 'name', e.name, 'status', e.status, 'hypothesis', left(e.hypothesis, 2000),
        'outcome', e.outcome, 'decision', left(e.decision, 2000), 'observed_delta', e.observed_delta, 'delta_confidence', e.delta_confidence,
        'target_metric', e.target_metric, 'project_id', e.project_id, 'source_type', e.source_type,
        'source_ref', e.source_ref, 'arxiv_ids', experiment_papers(e), 'pr_url', e.pr_url, 'pr_status', e.pr_status,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- A body's links with just the members that the API shows, absent ones null; other bodies as they are.
CREATE FUNCTION linked_resources_shaped(body jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN body ? 'linked_resources' THEN
        jsonb_set(body, '{linked_resources}',
                  (SELECT coalesce(jsonb_agg(jsonb_build_object('type', r.link -> 'type', 'id', r.link -> 'id',
                                                                'title', r.link -> 'title', 'url', r.link -> 'url')
                                             ORDER BY r.place), '[]')
                   FROM jsonb_array_elements(body -> 'linked_resources') WITH ORDINALITY AS r (link, place)))
    ELSE body END
$$;

-- Make an experiment of a body that was checked, and tell of it.
CREATE FUNCTION experiment_new(account uuid, body jsonb, request_id text) RETURNS experiment LANGUAGE plpgsql AS $$
DECLARE
    made experiment;
BEGIN
    INSERT INTO experiment (account_id, name, status, hypothesis, outcome, decision, observed_delta, delta_confidence,
                            target_metric, tags, pr_url, pr_status, external_ticket_id, ticket_source, ticket_url,
                            project_id, source_type, source_ref, launch_context, ab_test_config, ab_test_results,
                            linked_resources, created_via)
    SELECT account, n.name, coalesce(n.status, 'draft'), n.hypothesis, n.outcome, n.decision, n.observed_delta,
           n.delta_confidence, n.target_metric, coalesce(n.tags, '{}'), n.pr_url, n.pr_status, n.external_ticket_id,
           n.ticket_source, n.ticket_url, n.project_id, coalesce(n.source_type, 'manual'), n.source_ref,
           n.launch_context, n.ab_test_config, n.ab_test_results, coalesce(n.linked_resources, '[]'),
           coalesce(n.created_via, 'api')
    FROM jsonb_populate_record(NULL::experiment, linked_resources_shaped(body)) n
    RETURNING * INTO made;
    PERFORM event_emit('events.experiments', 'experiment.created', account, experiment_event(made), request_id);
    RETURN made;
END $$;

-- Change a locked experiment: note what really changes in its history and tell of it. What it becomes; as it was when
-- nothing changes. Beside project_remove() the one way in which a column that the API shows is changed.
CREATE FUNCTION experiment_change(was experiment, body jsonb, by_key uuid, request_id text) RETURNS experiment
LANGUAGE plpgsql AS $$
DECLARE
    becomes experiment := jsonb_populate_record(was, linked_resources_shaped(body));
BEGIN
    becomes.updated_at := clock_timestamp();
    INSERT INTO experiment_history (experiment_id, at, field, was, becomes, by_key)
    SELECT was.id, becomes.updated_at, field, before -> field, after -> field, by_key
    FROM to_jsonb(was) before, to_jsonb(becomes) after, jsonb_object_keys(body) field
    WHERE before -> field IS DISTINCT FROM after -> field;
    IF NOT FOUND THEN
        RETURN was;
    END IF;
    becomes.version := was.version + 1;
    UPDATE experiment SET
        version = becomes.version, updated_at = becomes.updated_at, name = becomes.name, status = becomes.status,
        hypothesis = becomes.hypothesis, outcome = becomes.outcome, decision = becomes.decision,
        observed_delta = becomes.observed_delta, delta_confidence = becomes.delta_confidence,
        target_metric = becomes.target_metric, tags = becomes.tags, pr_url = becomes.pr_url,
        pr_status = becomes.pr_status, external_ticket_id = becomes.external_ticket_id,
        ticket_source = becomes.ticket_source, ticket_url = becomes.ticket_url, project_id = becomes.project_id,
        launch_context = becomes.launch_context, ab_test_config = becomes.ab_test_config,
        ab_test_results = becomes.ab_test_results, linked_resources = becomes.linked_resources,
        pipeline_status = becomes.pipeline_status, branch_name = becomes.branch_name
    WHERE id = was.id;
    PERFORM event_emit('events.experiments', 'experiment.updated', was.account_id, experiment_event(becomes), request_id);
    RETURN becomes;
END $$;

-- Ids of the experiments that every given filter lets through; a null filter lets all through.
CREATE FUNCTION experiment_found(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                 came_via text, is_actionable boolean) RETURNS TABLE (id uuid) LANGUAGE sql STABLE AS $$
    SELECT e.id FROM experiment e
    WHERE e.account_id = account
      AND (in_project IS NULL OR e.project_id = in_project)
      AND (with_status IS NULL OR e.status = with_status)
      AND (with_source IS NULL OR e.ticket_source = with_source)
      AND (with_ticket IS NULL OR e.external_ticket_id = with_ticket)
      AND (came_via IS NULL OR e.created_via = came_via)
      AND (NOT is_actionable OR (e.launch_context IS NOT NULL AND e.pr_url IS NULL))
$$;

-- A page of them, newest first, and how many there are. Planned anew for each call, so that the filters that were not
-- given vanish and those that were choose the index. The page's ids come from the index alone, rows are read for it only.
-- Always by an index: reading the whole table looks cheap only while most of it is one account's.
CREATE FUNCTION experiment_page(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                came_via text, is_actionable boolean, page_limit bigint, page_offset bigint,
                                OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
BEGIN
    SELECT count(*) INTO total
    FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable);
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM (SELECT found.id
          FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable) found
          ORDER BY found.id DESC LIMIT page_limit OFFSET page_offset) one
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;

-- Delete a project; its experiments belong to none from then on, which is noted and told of each as by
-- experiment_change(), but of all in one statement. False: there is no such project.
CREATE FUNCTION project_remove(account uuid, project uuid, by_key uuid, request_id text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    told bigint;
BEGIN
    -- Locked first: nobody can join the project once its experiments are being detached.
    PERFORM FROM project p WHERE p.id = project_remove.project AND p.account_id = account FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    WITH member AS (
        UPDATE experiment x SET project_id = NULL, version = x.version + 1, updated_at = clock_timestamp()
        WHERE x.account_id = account AND x.project_id = project_remove.project
        RETURNING x AS e
    ), noted AS (
        INSERT INTO experiment_history (experiment_id, at, field, was, becomes, by_key)
        SELECT (e).id, (e).updated_at, 'project_id', to_jsonb(project_remove.project), 'null', project_remove.by_key
        FROM member
    )
    SELECT count(event_emit('events.experiments', 'experiment.updated', account, experiment_event(e),
                            project_remove.request_id))
    INTO told FROM member;
    DELETE FROM project p WHERE p.id = project_remove.project;
    RETURN true;
END $$;

-- Take a report of an agent.
--
--   An attempt begins with the first report and ends with `completed` or `failed`. After `failed` a report of another
--   status begins the next one; after `completed` it contradicts, and is not taken.
--   The same report twice in an attempt changes nothing. Within an attempt `pr_opened` does not go back to `running`.
--   What a report leaves out, or says null of, stays.
--
-- No row: there is no such experiment. `is_taken` false: it contradicts.
CREATE FUNCTION experiment_report(experiment uuid, account uuid, by_key uuid, body jsonb, request_id text,
                                  OUT pipeline_status text, OUT is_taken boolean)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    given jsonb := jsonb_strip_nulls(body - 'artifacts');
    wanted text := coalesce(given ->> 'status', CASE WHEN given ? 'pr_url' THEN 'pr_opened' ELSE 'completed' END);
    its_digest bytea := sha256(convert_to(body::text, 'UTF8'));
    moment timestamptz := clock_timestamp();
    now_attempt int;
    is_ended boolean;
BEGIN
    SELECT x.* INTO e FROM experiment x
    WHERE x.id = experiment_report.experiment AND x.account_id = account FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT coalesce(max(i.attempt), 0) INTO now_attempt FROM implementation i WHERE i.experiment_id = e.id;
    is_ended := now_attempt = 0 OR (e.pipeline_status IN ('failed', 'cancelled') AND wanted <> e.pipeline_status);
    is_taken := e.pipeline_status <> 'completed' OR wanted = 'completed';
    IF EXISTS (SELECT FROM report r WHERE r.experiment_id = e.id AND r.attempt = now_attempt AND r.digest = its_digest)
       AND NOT is_ended THEN
        is_taken := true;
    ELSIF is_taken THEN
        IF is_ended THEN
            now_attempt := now_attempt + 1;
        ELSIF wanted = 'running' AND e.pipeline_status = 'pr_opened' THEN
            wanted := 'pr_opened';
        END IF;
        INSERT INTO implementation AS i (experiment_id, attempt, started_at, finished_at, error)
        VALUES (e.id, now_attempt, moment, CASE WHEN wanted IN ('completed', 'failed') THEN moment END,
                CASE WHEN wanted = 'failed' THEN coalesce(given ->> 'summary', 'the agent reported a failure') END)
        ON CONFLICT (experiment_id, attempt) DO UPDATE
        SET finished_at = coalesce(i.finished_at, excluded.finished_at), error = excluded.error;
        INSERT INTO report (experiment_id, attempt, digest, summary, artifacts, by_key, at)
        VALUES (e.id, now_attempt, its_digest, given ->> 'summary', nullif(body -> 'artifacts', 'null'), by_key, moment);
        e := experiment_change(e, jsonb_strip_nulls(jsonb_build_object(
            'pipeline_status', wanted, 'pr_url', given -> 'pr_url', 'branch_name', given -> 'branch_name',
            'pr_status', CASE WHEN given ->> 'pr_url' <> coalesce(e.pr_url, '') THEN 'open'
                              WHEN coalesce(given ->> 'pr_url', e.pr_url) IS NOT NULL THEN coalesce(e.pr_status, 'open')
                         END)), by_key, request_id);
    END IF;
    pipeline_status := e.pipeline_status;
    RETURN NEXT;
END $$;
