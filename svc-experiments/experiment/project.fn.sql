-- A project as the API shows it, with how many experiments it has.
CREATE OR REPLACE FUNCTION project_json(p project) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT json_build_object(
        'id', p.id, 'name', p.name, 'description', p.description,
        'experiments_count', (SELECT count(*) FROM experiment e
                              WHERE e.account_id = p.account_id AND e.project_id = p.id),
        'created_at', time_json(p.created_at), 'updated_at', time_json(p.updated_at)));
END $$;

-- An experiment joins no project but one of its account. No foreign key says so, since experiments of a project that was deleted may have it
-- for a while. The project stays until the transaction of the experiment ends.
CREATE OR REPLACE FUNCTION project_join(account uuid, project uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM project p WHERE p.id = project_join.project AND p.account_id = account FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account has no such project', CONSTRAINT = 'experiment_project';
    END IF;
END $$;

-- Let up to `most` experiments of a project that is deleted belong to none, which is noted and announced for each as by
-- experiment_change(), but of all in one statement. Returns how many.
CREATE OR REPLACE FUNCTION project_detach(account uuid, project uuid, by_key uuid, request_id text, most int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    detached bigint;
BEGIN
    WITH chosen AS MATERIALIZED (
        SELECT x.id FROM experiment x WHERE x.account_id = account AND x.project_id = project_detach.project
        ORDER BY x.id DESC LIMIT most FOR NO KEY UPDATE
    ), member AS (
        UPDATE experiment x SET project_id = NULL, version = x.version + 1, updated_at = clock_timestamp()
        FROM chosen c WHERE x.id = c.id
        RETURNING x AS e
    ), noted AS (
        INSERT INTO experiment_history (experiment_id, at, field, was, becomes, by_key, bytes)
        SELECT (e).id, (e).updated_at, 'project_id', to_jsonb(project_detach.project), 'null', project_detach.by_key,
               change_bytes(to_jsonb(project_detach.project), 'null')
        FROM member
    )
    SELECT count(ARRAY[event_emit('events.experiments', 'experiment.updated', account, experiment_event(e),
                                  project_detach.request_id)::text,
                       experiment_announce(e, 'updated', jsonb_build_array(jsonb_build_object(
                           'field', 'project_id', 'from', project_detach.project, 'to', NULL)), project_detach.by_key,
                                           project_detach.request_id)::text])
    INTO detached FROM member;
    RETURN detached;
END $$;

-- Delete a project. Of its experiments the newest 200 belong to none from then on, and a task lets the others follow: until then they show
-- no project, either. False: there is no such project.
CREATE OR REPLACE FUNCTION project_remove(account uuid, project uuid, by_key uuid, request_id text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    most CONSTANT int := 200;
BEGIN
    -- Locked first: nobody can join the project once its experiments are being detached.
    PERFORM FROM project p WHERE p.id = project_remove.project AND p.account_id = account FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF project_detach(account, project, by_key, request_id, most) = most THEN
        PERFORM task_put('project_detach', account, jsonb_build_object('project_id', project, 'by_key', by_key), request_id, NULL);
    END IF;
    DELETE FROM project p WHERE p.id = project_remove.project;
    RETURN true;
END $$;
