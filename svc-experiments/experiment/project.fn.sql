-- A project as the API shows it, with how many experiments it has.
CREATE OR REPLACE FUNCTION project_json(p project) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', p.id, 'name', p.name, 'description', p.description,
        'experiments_count', (SELECT count(*) FROM experiment e
                              WHERE e.account_id = p.account_id AND e.project_id = p.id),
        'created_at', time_json(p.created_at), 'updated_at', time_json(p.updated_at))
$$;

-- Delete a project; its experiments belong to none from then on, which is noted and announced for each as by
-- experiment_change(), but of all in one statement. False: there is no such project.
CREATE OR REPLACE FUNCTION project_remove(account uuid, project uuid, by_key uuid, request_id text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    announced bigint;
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
    SELECT count(ARRAY[event_emit('events.experiments', 'experiment.updated', account, experiment_event(e),
                                  project_remove.request_id)::text,
                       experiment_announce(e, 'updated', jsonb_build_array(jsonb_build_object(
                           'field', 'project_id', 'from', project_remove.project, 'to', NULL)), project_remove.by_key,
                                           project_remove.request_id)::text])
    INTO announced FROM member;
    DELETE FROM project p WHERE p.id = project_remove.project;
    RETURN true;
END $$;
