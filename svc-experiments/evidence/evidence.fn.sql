-- What an experiment says of its way to a decision, as parts of a graph (evidence/evidence.h).

-- When its pull request was merged; null: it was not.
CREATE OR REPLACE FUNCTION experiment_merged_at(e experiment) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE WHEN lower(e.pr_status) = 'merged' THEN coalesce((
        SELECT max(h.at) FROM experiment_history h
        WHERE h.experiment_id = e.id AND h.field = 'pr_status' AND lower(h.becomes #>> '{}') = 'merged'), e.created_at) END;
END $$;

CREATE OR REPLACE FUNCTION experiment_verdict(e experiment) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN trial_verdict(e.outcome, e.status, lower(e.pr_status), experiment_merged_at(e));
END $$;

-- The changes that decided something, the newest first. What a change left as it was is null. One that was decided when it was made
-- has no change of that in its history: it counts as one, of its making. The changes are chosen by their field first: to look at the value
-- of another one is to read it whole.
CREATE OR REPLACE FUNCTION experiment_decisions(e experiment)
RETURNS TABLE (node text, at timestamptz, outcome text, decision text, status text, by_key uuid) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
        SELECT 'decision:' || max(h.id), h.at, max(h.becomes #>> '{}') FILTER (WHERE h.field = 'outcome'),
               max(h.becomes #>> '{}') FILTER (WHERE h.field = 'decision'), max(h.becomes #>> '{}') FILTER (WHERE h.field = 'status'),
               (array_agg(h.by_key))[1]
        FROM (SELECT * FROM experiment_history x
              WHERE x.experiment_id = e.id AND x.field IN ('outcome', 'decision', 'status') OFFSET 0) h
        WHERE h.becomes <> 'null'
          AND (h.field <> 'status' OR h.becomes #>> '{}' IN ('shipped', 'iterating', 'rejected', 'abandoned'))
        GROUP BY h.at ORDER BY h.at DESC LIMIT 20;
    IF NOT FOUND AND (coalesce(e.outcome, e.decision) IS NOT NULL OR e.status IN ('shipped', 'iterating', 'rejected', 'abandoned')) THEN
        RETURN QUERY SELECT 'decision:' || e.id, e.created_at, e.outcome, e.decision, e.status, NULL::uuid;
    END IF;
END $$;

-- The papers that the graph is about: the first 50 that it names.
CREATE OR REPLACE FUNCTION evidence_papers(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_path_query_array(experiment_papers(e), '$[0 to 49]')
$$;

-- The evaluation runs whose results it keeps, the first 200. The member is free in its form: what has no id of a run is none.
CREATE OR REPLACE FUNCTION experiment_eval_runs(e experiment) RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    SELECT item FROM jsonb_path_query(e.ab_test_results, 'strict $.eval_runs ? (@.type() == "array")', '{}', true) AS runs,
                     jsonb_array_elements(runs) AS item
    WHERE item ->> 'run_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    LIMIT 200
$$;

-- A time that somebody may have typed; null: it is none.
CREATE OR REPLACE FUNCTION typed_time(typed text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE WHEN typed ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:' THEN typed::timestamptz END;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $$;

-- The evaluation runs that results name, by the input that is stored with them.
CREATE OR REPLACE FUNCTION result_eval_runs(input jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT DISTINCT lower(run #>> '{}')
    FROM jsonb_path_query(input, 'lax $.eval_runs.*[*]') AS run
    WHERE run #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;

-- The analyses of the present plan: the newest 20.
CREATE OR REPLACE FUNCTION evidence_analyses(experiment uuid) RETURNS SETOF experiment_result LANGUAGE sql STABLE AS $$
    SELECT * FROM experiment_result r WHERE r.experiment_id = experiment AND NOT r.is_apart ORDER BY r.at DESC, r.id DESC LIMIT 20
$$;

-- The evaluation runs of the graph, as a JSON array of texts: those whose results it keeps, and those that analyses name; at most 200.
CREATE OR REPLACE FUNCTION evidence_eval_runs(e experiment) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(id), '[]') FROM (
        SELECT id FROM (
            SELECT lower(item ->> 'run_id') AS id, 0 AS turn FROM experiment_eval_runs(e) AS item
            UNION SELECT run, 1 FROM evidence_analyses(e.id) r, result_eval_runs(r.input) AS run) named
        GROUP BY id ORDER BY min(turn), id LIMIT 200) runs
$$;

-- The metric that an analysis speaks of, else its first one.
CREATE OR REPLACE FUNCTION analysis_metric(output jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_path_query_first(output, '$.metrics[*] ? (@.key == $key)', jsonb_build_object('key', output -> 'metric')),
                    output #> '{metrics,0}')
$$;

-- What it says of the arm that it speaks of, else of the first one.
CREATE OR REPLACE FUNCTION analysis_comparison(output jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_path_query_first(analysis_metric(output), '$.comparisons[*] ? (@.arm == $arm)', jsonb_build_object('arm', output -> 'arm')),
                    analysis_metric(output) #> '{comparisons,0}')
$$;

-- How far an attempt came. Of those before the newest only their end is known.
CREATE OR REPLACE FUNCTION attempt_pipeline_status(e experiment, i implementation) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN NOT EXISTS (SELECT FROM implementation x WHERE x.experiment_id = e.id AND x.attempt > i.attempt) THEN e.pipeline_status
                WHEN i.error IS NOT NULL THEN 'failed' WHEN i.finished_at IS NOT NULL THEN 'completed' END
$$;

-- An experiment with what hangs on it here: the newest 20 of each.
CREATE OR REPLACE FUNCTION experiment_evidence(e experiment, OUT nodes json, OUT edges json) LANGUAGE plpgsql STABLE AS $$
BEGIN
    WITH attempt AS (
        SELECT i AS made, e.id || '/' || i.attempt AS node FROM implementation i WHERE i.experiment_id = e.id ORDER BY i.attempt DESC LIMIT 20
    ), analysis AS (
        SELECT r.id, r.at, r.source, r.input, r.output FROM evidence_analyses(e.id) r
    ), decided AS (
        SELECT * FROM experiment_decisions(e)
    ), evaluation AS (
        SELECT lower(item ->> 'run_id') AS id, item, typed_time(item ->> 'finished_at') AS finished_at FROM experiment_eval_runs(e) AS item
    ), node AS (
        SELECT evidence_node(e.id::text, 'experiment', e.created_at, '/console/experiments/' || e.id, json_build_object(
                   'name', e.name, 'status', e.status, 'hypothesis', left(e.hypothesis, 2000), 'outcome', e.outcome,
                   'decision', left(e.decision, 2000), 'tags', e.tags, 'verdict', experiment_verdict(e),
                   'repo', nullif(left(btrim(e.launch_context ->> 'target_repo'), 200), ''), 'pr_url', e.pr_url)) AS node
        UNION ALL
        SELECT evidence_node(a.node, 'implementation', (a.made).started_at, (a.made).run_url, json_build_object(
                   'repo', (a.made).repo, 'branch', (a.made).work_branch, 'pipeline_status', attempt_pipeline_status(e, a.made),
                   'error', left((a.made).error, 2000),
                   'finished_at', time_json((a.made).finished_at), 'steps', implementation_steps_json(a.made)))
        FROM attempt a
        UNION ALL
        SELECT evidence_node(r.id::text, 'analysis', r.at, NULL, json_build_object(
                   'verdict', r.output -> 'verdict', 'text', r.output -> 'text', 'observed_delta', r.output -> 'observed_delta',
                   'delta_confidence', r.output -> 'delta_confidence', 'comparison', analysis_comparison(r.output),
                   'metric', analysis_metric(r.output) -> 'key', 'warnings', r.output -> 'warnings'))
        FROM analysis r
        UNION ALL
        SELECT evidence_node(d.node, 'decision', d.at, NULL, json_build_object(
                   'outcome', d.outcome, 'decision', left(d.decision, 2000), 'status', d.status, 'by', d.by_key))
        FROM decided d
        UNION ALL
        SELECT evidence_node(v.id, 'eval_run', coalesce(v.finished_at, e.created_at), '/console/evaluations/runs/' || v.id, json_build_object(
                   'template_id', v.item -> 'template_id', 'template_version', v.item -> 'template_version',
                   'template_digest', v.item -> 'template_digest', 'status', v.item -> 'status', 'metrics', v.item -> 'metrics',
                   'error', v.item #> '{error,kind}', 'finished_at', time_json(v.finished_at)))
        FROM evaluation v
    ), edge AS (
        SELECT evidence_edge(e.id::text, 'paper:' || paper, 'about', e.created_at) AS edge FROM jsonb_array_elements_text(evidence_papers(e)) AS paper
        UNION ALL SELECT evidence_edge(a.node, e.id::text, 'part_of', (a.made).started_at) FROM attempt a
        UNION ALL SELECT evidence_edge(r.id::text, e.id::text, 'part_of', r.at) FROM analysis r
        UNION ALL SELECT evidence_edge(r.id::text, run, 'uses', r.at) FROM analysis r, result_eval_runs(r.input) AS run
        UNION ALL SELECT evidence_inferred(r.id::text, v.id, 'uses', r.at, 'same_template_before') FROM analysis r JOIN evaluation v
                  ON v.item ->> 'template_digest' = r.output ->> 'template_digest' AND v.finished_at <= r.at
                  WHERE r.source = 'eval_runs' AND NOT r.input ? 'eval_runs'
        UNION ALL SELECT evidence_edge(v.id, e.id::text, 'part_of', coalesce(v.finished_at, e.created_at)) FROM evaluation v
        UNION ALL SELECT evidence_edge(d.node, e.id::text, 'decides', d.at) FROM decided d
        UNION ALL SELECT evidence_edge((SELECT r.id::text FROM analysis r WHERE r.at <= d.at ORDER BY r.at DESC LIMIT 1), d.node, 'supports', d.at)
                  FROM decided d WHERE EXISTS (SELECT FROM analysis r WHERE r.at <= d.at)
    )
    SELECT (SELECT coalesce(json_agg(node.node), '[]') FROM node), (SELECT coalesce(json_agg(edge.edge), '[]') FROM edge) INTO nodes, edges;
END $$;

-- The pull request that the experiment names, as far as it knows it, with the edge from it; null: it names none.
CREATE OR REPLACE FUNCTION experiment_pull_request(e experiment) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE WHEN e.pr_url IS NOT NULL THEN json_build_object(
        'nodes', json_build_array(evidence_node(e.pr_url, 'pull_request', NULL, e.pr_url, json_build_object(
            'repo', substring(e.pr_url FROM '^https?://[^/]+/([^/]+/[^/]+)/'), 'number', NULL, 'stage', lower(e.pr_status),
            'stage_by', 'experiment', 'opened_at', NULL, 'closed_at', time_json(experiment_merged_at(e))))),
        'edges', json_build_array(evidence_edge(e.id::text, e.pr_url, 'opened', NULL))) END;
END $$;

-- The papers of an experiment, each in a row.
CREATE OR REPLACE FUNCTION experiment_papers_follow() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    papers text[] := ARRAY(SELECT jsonb_array_elements_text(experiment_papers(NEW)));
BEGIN
    DELETE FROM experiment_paper p WHERE p.experiment_id = NEW.id AND p.arxiv_id <> ALL (papers);
    INSERT INTO experiment_paper (account_id, arxiv_id, experiment_id) SELECT NEW.account_id, unnest(papers), NEW.id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER papers_named AFTER INSERT ON experiment FOR EACH ROW
    WHEN (NEW.launch_context IS NOT NULL OR NEW.source_ref IS NOT NULL OR NEW.linked_resources <> '[]')
    EXECUTE FUNCTION experiment_papers_follow();
CREATE OR REPLACE TRIGGER papers_changed AFTER UPDATE ON experiment FOR EACH ROW
    WHEN ((OLD.launch_context, OLD.source_type, OLD.source_ref, OLD.linked_resources)
          IS DISTINCT FROM (NEW.launch_context, NEW.source_type, NEW.source_ref, NEW.linked_resources))
    EXECUTE FUNCTION experiment_papers_follow();

-- The papers of experiments that were there before their rows: of the next ones, from the newest to the oldest.
CREATE OR REPLACE FUNCTION fill_experiment_papers(behind text, most int, OUT reached text, OUT seen int) LANGUAGE plpgsql AS $$
DECLARE
    ids uuid[];
BEGIN
    WITH locked AS (SELECT e.id FROM experiment e WHERE e.id < behind::uuid ORDER BY e.id DESC LIMIT most FOR SHARE)
    SELECT array_agg(l.id), min(l.id::text), count(*) INTO ids, reached, seen FROM locked l;
    INSERT INTO experiment_paper (account_id, arxiv_id, experiment_id)
    SELECT e.account_id, paper, e.id FROM experiment e, jsonb_array_elements_text(experiment_papers(e)) AS paper WHERE e.id = ANY (ids)
    ON CONFLICT DO NOTHING;
END $$;

-- The experiments that name a paper.
CREATE OR REPLACE FUNCTION experiments_on_paper(account uuid, paper text) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
    unfilled uuid := fill_cursor('experiment_papers');
BEGIN
    RETURN QUERY SELECT p.experiment_id FROM experiment_paper p WHERE p.account_id = account AND p.arxiv_id = paper;
    IF unfilled IS NOT NULL THEN
        RETURN QUERY
            SELECT e.id FROM experiment e
            WHERE e.account_id = account AND e.id < unfilled AND experiment_papers(e) ? paper
              AND NOT EXISTS (SELECT FROM experiment_paper p WHERE p.account_id = account AND p.arxiv_id = paper AND p.experiment_id = e.id);
    END IF;
END $$;
