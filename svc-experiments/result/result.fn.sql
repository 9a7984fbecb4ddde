-- Results of experiments, and what an experiment has of them.

-- What must not change once there are results: arms, metrics by kind and role, the suite, and how they are tested.
CREATE OR REPLACE FUNCTION plan_design(config jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'arms', (SELECT jsonb_agg(jsonb_build_array(a.arm -> 'key', coalesce(a.arm -> 'weight', '1'),
                                                    coalesce(a.arm -> 'control', 'false')) ORDER BY a.place)
                 FROM jsonb_array_elements(config -> 'arms') WITH ORDINALITY AS a (arm, place)),
        'metrics', (SELECT jsonb_agg(jsonb_build_array(m.metric -> 'key', m.metric -> 'kind', m.metric -> 'role', m.metric -> 'goal',
                                                       m.metric -> 'k', m.metric -> 'quantile', m.metric -> 'scale') ORDER BY m.place)
                    FROM jsonb_array_elements(config -> 'metrics') WITH ORDINALITY AS m (metric, place)),
        'suite', config -> 'suite', 'mode', config -> 'mode', 'alpha', coalesce(config -> 'alpha', '0.05'), 'planned_n', config -> 'planned_n')
$$;

-- Set the results of an experiment apart, since its plan becomes another. What was computed of them is no longer said of it.
CREATE OR REPLACE FUNCTION results_set_apart(e experiment) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    UPDATE experiment_result SET is_apart = true WHERE experiment_id = e.id AND NOT is_apart;
    DELETE FROM linked_run l WHERE l.experiment_id = e.id;
    RETURN '{"analysis_id": null}'::jsonb || CASE WHEN e.delta_source = 'computed'
        THEN '{"observed_delta": null, "delta_confidence": null, "delta_source": null}' ELSE '{}' END::jsonb;
END $$;

-- A body that changes an experiment, with what follows from it: a delta or word that is typed is no longer a computed one, the
-- analysis stays where it is stored, and the plan of results is fixed. Violates results_exist.
CREATE OR REPLACE FUNCTION experiment_edited(was experiment, body jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    edited jsonb := body - 'restart';
BEGIN
    IF jsonb_typeof(body -> 'ab_test_results') = 'object' THEN
        edited := jsonb_set(edited, '{ab_test_results}', (body -> 'ab_test_results') - 'analysis');
        IF was.ab_test_results IS NULL AND was.analysis_id IS NOT NULL AND (edited -> 'ab_test_results') = '{}' THEN
            edited := edited - 'ab_test_results'; -- as it was read
        END IF;
    END IF;
    IF was.analysis_id IS NOT NULL AND body ? 'ab_test_config'
       AND plan_design(body -> 'ab_test_config') IS DISTINCT FROM plan_design(was.ab_test_config) THEN
        IF NOT coalesce((body ->> 'restart')::boolean, false) THEN
            RAISE unique_violation USING MESSAGE = 'the experiment has results', CONSTRAINT = 'results_exist';
        END IF;
        edited := results_set_apart(was) || edited;
    END IF;
    IF was.delta_source = 'computed' AND NOT edited ? 'delta_source'
       AND jsonb_build_object('d', was.observed_delta, 'c', was.delta_confidence) IS DISTINCT FROM jsonb_build_object(
           'd', CASE WHEN body ? 'observed_delta' THEN (body ->> 'observed_delta')::float8 ELSE was.observed_delta END,
           'c', CASE WHEN body ? 'delta_confidence' THEN body ->> 'delta_confidence' ELSE was.delta_confidence END) THEN
        edited := edited || '{"delta_source": "stated"}';
    END IF;
    RETURN edited;
END $$;

-- Store results with their analysis, and let the experiment say what was computed. Null: there is no such experiment. An analysis by
-- another configuration than the experiment has now is refused as a serialization_failure: the request runs again.
CREATE OR REPLACE FUNCTION result_add(account uuid, experiment uuid, seen jsonb, source text, input jsonb, output jsonb,
                                      by_key uuid, request_id text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    id uuid;
    told_at timestamptz;
    made jsonb;
BEGIN
    SELECT * INTO e FROM experiment x WHERE x.id = result_add.experiment AND x.account_id = account FOR UPDATE;
    IF e.id IS NULL THEN
        RETURN NULL;
    END IF;
    IF e.ab_test_config IS DISTINCT FROM seen THEN
        RAISE serialization_failure USING MESSAGE = 'the plan of the experiment has changed meanwhile';
    END IF;
    id := uuid_v7(); -- behind the lock, in whose order results are newer
    told_at := greatest(clock_timestamp(), (SELECT max(r.at) FROM experiment_result r WHERE r.experiment_id = e.id) -- where it was set back
                                           + interval '1 millisecond');
    made := jsonb_build_object('analysis_id', id, 'experiment_id', e.id, 'at', time_json(told_at), 'by', by_key) || output;
    INSERT INTO experiment_result (id, experiment_id, account_id, at, by_key, source, input, output)
    VALUES (id, e.id, account, told_at, by_key, source, input, made);
    DELETE FROM experiment_result r
    WHERE r.id IN (SELECT o.id FROM experiment_result o WHERE o.experiment_id = e.id ORDER BY o.at DESC, o.id DESC OFFSET 100);
    PERFORM experiment_change(e, jsonb_build_object(
        'analysis_id', id, 'observed_delta', output -> 'observed_delta', 'delta_confidence', output -> 'delta_confidence',
        'delta_source', 'computed'), by_key, request_id);
    RETURN made;
END $$;

-- The results of an experiment as its detail view shows them: what others have stored, and the newest analysis.
CREATE OR REPLACE FUNCTION experiment_results_json(e experiment) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF e.analysis_id IS NULL THEN
        RETURN e.ab_test_results;
    END IF;
    RETURN coalesce(e.ab_test_results, '{}') || jsonb_build_object(
        'analysis', (SELECT r.output FROM experiment_result r WHERE r.id = e.analysis_id));
END $$;
