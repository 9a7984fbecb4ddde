-- Runs that are linked to an arm of an experiment.

-- The id that a member of an event has, if it is one.
CREATE OR REPLACE FUNCTION told_id(told jsonb, member text) RETURNS uuid LANGUAGE sql IMMUTABLE
RETURN CASE WHEN told ->> member ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (told ->> member)::uuid END;

-- Whether a plan has the arm (analysis/plan.h).
CREATE OR REPLACE FUNCTION plan_has_arm(config jsonb, arm text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN CASE WHEN jsonb_typeof(config -> 'arms') = 'array' THEN config -> 'arms' @> jsonb_build_array(jsonb_build_object('key', arm))
            ELSE arm IN ('control', 'treatment') END;

-- How many linked runs of a source are kept of an experiment. So many evaluations can also be named in a request.
CREATE OR REPLACE FUNCTION linked_runs_max(source text) RETURNS int LANGUAGE sql IMMUTABLE
RETURN CASE source WHEN 'eval_runs' THEN 200 ELSE 1000 END;

-- Drop the runs of a source that are too many: those of arms that the plan does not have, then the oldest, so that each arm keeps as many as
-- another one if it has them.
CREATE OR REPLACE FUNCTION linked_runs_trim(experiment uuid, of_source text) RETURNS void LANGUAGE sql VOLATILE AS $$
    DELETE FROM linked_run l
    USING (SELECT o.run_key, plan_has_arm(e.ab_test_config, o.arm) AS is_planned,
                  row_number() OVER (PARTITION BY o.arm ORDER BY o.at DESC, o.run_key DESC) AS number
           FROM linked_run o JOIN experiment e ON e.id = o.experiment_id
           WHERE o.experiment_id = experiment AND o.source = of_source
           ORDER BY is_planned DESC, number, o.arm OFFSET linked_runs_max(of_source)) many
    WHERE l.experiment_id = experiment AND l.source = of_source AND l.run_key = many.run_key
$$;

-- Let the runs of a source be analysed again.
CREATE OR REPLACE FUNCTION results_collect_put(account uuid, experiment uuid, source text, request_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM task_put('results_collect', account, jsonb_build_object('experiment_id', experiment, 'source', source), request_id, NULL);
END $$;

-- Keep a run that names an arm, and let the results be analysed again. The same run again changes nothing.
CREATE OR REPLACE FUNCTION linked_run_keep(account uuid, r linked_run, request_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO linked_run AS l (experiment_id, source, run_key, arm, digest, metrics, is_cost_estimated)
    VALUES (r.experiment_id, r.source, r.run_key, r.arm, r.digest, r.metrics, coalesce(r.is_cost_estimated, false))
    ON CONFLICT (experiment_id, source, run_key) DO UPDATE
    SET arm = excluded.arm, metrics = excluded.metrics, is_cost_estimated = excluded.is_cost_estimated, at = excluded.at
    WHERE (l.arm, l.metrics, l.is_cost_estimated) IS DISTINCT FROM (excluded.arm, excluded.metrics, excluded.is_cost_estimated);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM linked_runs_trim(r.experiment_id, r.source);
    PERFORM results_collect_put(account, r.experiment_id, r.source, request_id);
END $$;

-- The experiment is locked by a statement of its own before a run of it is kept, here and below: a statement that also calls the
-- function does that first, and the new row shares the lock of its foreign key with that of another one.

-- An evaluation run has ended (evaluation.fn.sql).
CREATE OR REPLACE FUNCTION linked_run_evaluated(account uuid, told jsonb, request_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    experiment uuid;
BEGIN
    SELECT e.id INTO experiment FROM experiment e
    WHERE e.account_id = account AND e.id = told_id(told, 'experiment_id') AND told ->> 'arm' IS NOT NULL FOR UPDATE;
    IF FOUND THEN
        PERFORM linked_run_keep(account, (experiment, 'eval_runs', told ->> 'run_id', told ->> 'arm', told ->> 'template_digest', NULL, false,
                                          NULL)::linked_run, request_id);
    END IF;
END $$;

-- The run_key of a run of an agent. The name of its repository stays as it is until the transaction ends.
CREATE OR REPLACE FUNCTION linked_run_key(told jsonb) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN lower(repository_hold(told ->> 'repo')) || ' ' || (told ->> 'run_id');
END $$;

-- Take a run of an agent out of all experiments but one, and let their results be analysed again. `but_of` null: of all.
CREATE OR REPLACE FUNCTION linked_run_remove(account uuid, key text, but_of uuid, request_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    left_by uuid;
BEGIN
    FOR left_by IN
        SELECT e.id FROM experiment e
        WHERE e.account_id = account AND e.id IS DISTINCT FROM but_of
          AND e.id IN (SELECT l.experiment_id FROM linked_run l WHERE l.source = 'telemetry' AND l.run_key = key)
        ORDER BY e.id FOR UPDATE
    LOOP
        DELETE FROM linked_run l WHERE l.experiment_id = left_by AND l.source = 'telemetry' AND l.run_key = key;
        PERFORM results_collect_put(account, left_by, 'telemetry', request_id);
    END LOOP;
END $$;

-- A run of an agent has told what it measured. Its key is limited to its repository, so the experiment must be of that. It is no longer of
-- another one that it has named before.
CREATE OR REPLACE FUNCTION linked_run_measured(account uuid, told jsonb, request_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    key text := linked_run_key(told);
    experiment uuid;
BEGIN
    PERFORM linked_run_remove(account, key, told_id(told, 'experiment_id'), request_id);
    SELECT e.id INTO experiment FROM experiment e
    WHERE e.account_id = account AND e.id = told_id(told, 'experiment_id') AND experiment_is_of_key(e, told ->> 'repo', NULL) FOR UPDATE;
    IF FOUND THEN
        PERFORM linked_run_keep(account, (experiment, 'telemetry', key, told ->> 'arm', NULL,
                                          told -> 'metrics', (told -> 'is_cost_estimated')::boolean, NULL)::linked_run, request_id);
    END IF;
END $$;

-- A run of an agent was deleted.
CREATE OR REPLACE FUNCTION linked_run_removed(account uuid, told jsonb, request_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM linked_run_remove(account, linked_run_key(told), NULL, request_id);
END $$;

-- The runs of agents in a repository. In the order of bytes `!` is next to the space that ends the name in run_key.
CREATE OR REPLACE FUNCTION linked_runs_of(repo text) RETURNS SETOF linked_run LANGUAGE sql STABLE AS $$
    SELECT * FROM linked_run l
    WHERE l.source = 'telemetry' AND l.run_key ~>=~ (lower(repo) || ' ') AND l.run_key ~<~ (lower(repo) || '!')
$$;

-- Move the runs of a repository to its new name. Of a run that is there under both, what was told last stays.
CREATE OR REPLACE FUNCTION linked_runs_move(old_name text, new_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e record;
BEGIN
    IF lower(old_name) = lower(new_name) THEN
        RETURN;
    END IF;
    FOR e IN
        WITH doubled AS (
            SELECT o.experiment_id, CASE WHEN o.at > n.at THEN n.run_key ELSE o.run_key END AS older
            FROM linked_runs_of(old_name) o
            JOIN linked_run n ON n.experiment_id = o.experiment_id AND n.source = o.source
                              AND n.run_key = lower(new_name) || substr(o.run_key, length(old_name) + 1)
        ), dropped AS (
            DELETE FROM linked_run l USING doubled d
            WHERE l.experiment_id = d.experiment_id AND l.source = 'telemetry' AND l.run_key = d.older
            RETURNING l.experiment_id)
        SELECT x.id, x.account_id FROM experiment x WHERE x.id IN (SELECT d.experiment_id FROM dropped d) ORDER BY x.id
    LOOP
        PERFORM results_collect_put(e.account_id, e.id, 'telemetry', NULL);
    END LOOP;
    UPDATE linked_run l SET run_key = lower(new_name) || substr(l.run_key, length(old_name) + 1)
    FROM linked_runs_of(old_name) o
    WHERE l.experiment_id = o.experiment_id AND l.source = o.source AND l.run_key = o.run_key;
END $$;

-- The linked runs of a source that go by the plan. A run of an arm that is none must not spoil those of others; where there are no others,
-- all are here, so that the analysis says what is wrong.
CREATE OR REPLACE FUNCTION linked_runs_planned(experiment uuid, of_source text) RETURNS SETOF linked_run LANGUAGE sql STABLE AS $$
    SELECT (r.run).* FROM (
        SELECT l AS run, plan_has_arm(e.ab_test_config, l.arm) AS is_planned, bool_or(plan_has_arm(e.ab_test_config, l.arm)) OVER () AS is_any
        FROM linked_run l JOIN experiment e ON e.id = l.experiment_id
        WHERE l.experiment_id = experiment AND l.source = of_source) r
    WHERE r.is_planned OR NOT r.is_any
$$;

-- How many linked runs of a source are not among so many.
CREATE OR REPLACE FUNCTION linked_runs_left_out(experiment uuid, of_source text, taken bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT count(*) - taken FROM linked_run l WHERE l.experiment_id = experiment AND l.source = of_source
$$;

-- The runs to analyse, by arm: {"runs": {"control": ["0190…"]}, "count": 1, "left_out": 2}. Those of the template of the newest, whose id is the
-- highest (events of runs may come in another order than the runs); others measure something else and are left out.
CREATE OR REPLACE FUNCTION linked_runs_evaluated(experiment uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    WITH planned AS (
        SELECT * FROM linked_runs_planned(experiment, 'eval_runs')
    ), run AS (
        SELECT p.arm, p.run_key FROM planned p
        WHERE p.digest IS NOT DISTINCT FROM (SELECT n.digest FROM planned n ORDER BY n.run_key DESC LIMIT 1)
    )
    SELECT jsonb_build_object('runs', (SELECT jsonb_object_agg(a.arm, a.runs)
                                       FROM (SELECT r.arm, jsonb_agg(r.run_key ORDER BY r.run_key) AS runs FROM run r GROUP BY r.arm) a),
                              'count', (SELECT count(*) FROM run),
                              'left_out', linked_runs_left_out(experiment, 'eval_runs', (SELECT count(*) FROM run)))
$$;

-- What runs of agents measured: {"rows": [{"arm", "metrics"}], "is_cost_estimated": false, "left_out": 0}
CREATE OR REPLACE FUNCTION linked_runs_measured(experiment uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('rows', coalesce(jsonb_agg(jsonb_build_object('arm', l.arm, 'metrics', l.metrics) ORDER BY l.run_key), '[]'),
                              'is_cost_estimated', coalesce(bool_or(l.is_cost_estimated), false),
                              'left_out', linked_runs_left_out(experiment, 'telemetry', count(*)))
    FROM linked_runs_planned(experiment, 'telemetry') l
$$;

CREATE OR REPLACE FUNCTION linked_runs(experiment uuid, source text) RETURNS jsonb LANGUAGE sql STABLE
RETURN CASE source WHEN 'eval_runs' THEN linked_runs_evaluated(experiment) ELSE linked_runs_measured(experiment) END;

-- Store an analysis of linked runs as result_add() does. `runs_md5` is of the runs that it is of, `former` the newest analysis when they
-- were read. Two jobs may analyse at the same time, and the one that has read less may end last. So nothing is stored, and the result is
-- null, where there are other runs by now and another analysis: who stored that has read later, or a task waits for the runs.
CREATE OR REPLACE FUNCTION linked_result_add(account uuid, experiment uuid, seen jsonb, source text, runs_md5 text, former uuid, input jsonb,
                                             output jsonb, request_id text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    newest uuid;
BEGIN
    SELECT e.analysis_id INTO newest FROM experiment e WHERE e.id = $2 AND e.account_id = $1 FOR UPDATE;
    IF newest IS DISTINCT FROM former AND md5(linked_runs(experiment, source)::text) <> runs_md5 THEN
        RETURN NULL;
    END IF;
    RETURN result_add(account, experiment, seen, source, input, output, NULL, request_id);
END $$;

-- Set the analyses of linked runs apart once no run is left, as all were deleted. The experiment says what the newest of its other
-- analyses has.
CREATE OR REPLACE FUNCTION linked_results_withdraw(account uuid, experiment uuid, of_source text, request_id text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    newest experiment_result;
BEGIN
    SELECT * INTO e FROM experiment x WHERE x.id = $2 AND x.account_id = $1 FOR UPDATE;
    IF e.id IS NULL OR EXISTS (SELECT FROM linked_run l WHERE l.experiment_id = e.id AND l.source = of_source) THEN
        RETURN;
    END IF;
    UPDATE experiment_result r SET is_apart = true
    WHERE r.experiment_id = e.id AND r.source = of_source AND r.by_key IS NULL AND NOT r.is_apart;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO newest FROM experiment_result r
    WHERE r.experiment_id = e.id AND NOT r.is_apart ORDER BY r.at DESC, r.id DESC LIMIT 1;
    PERFORM experiment_change(e, jsonb_build_object('analysis_id', newest.id) || CASE WHEN e.delta_source = 'computed'
        THEN jsonb_build_object('observed_delta', newest.output -> 'observed_delta', 'delta_confidence', newest.output -> 'delta_confidence',
                                'delta_source', CASE WHEN newest.id IS NOT NULL THEN 'computed' END)
        ELSE '{}' END, NULL, request_id)
    WHERE newest.id IS DISTINCT FROM e.analysis_id;
END $$;
