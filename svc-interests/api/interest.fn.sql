-- An interest as the API shows it.
CREATE OR REPLACE FUNCTION interest_json(i interest) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', i.id, 'name', i.name, 'context', i.context, 'daily_count', i.daily_count, 'is_active', i.is_active,
        'model_provider', i.model_provider, 'source_repo_url', i.source_repo_url, 'project_id', i.project_id, 'sources', to_jsonb(i.sources),
        'schedule', coalesce(i.schedule, schedule_default()), 'agent_paused', i.agent_paused_at IS NOT NULL,
        'pool_status', i.pool_status, 'pool_size', i.pool_size, 'experiment_history_id', i.experiment_history_id,
        'last_recommendation_at', time_json(i.last_recommendation_at),
        'created_at', time_json(i.created_at), 'updated_at', time_json(i.updated_at))
$$;

-- The model of an interest as the API shows it. Facts of another version are of a model that was replaced.
CREATE OR REPLACE FUNCTION model_json(m preference_model) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'version', m.version, 'fitted_at', time_json(m.fitted_at),
        'examples', facts -> 'examples', 'positives', facts -> 'positives', 'auc', facts -> 'auc', 'learned', facts -> 'learned')
    FROM (SELECT CASE WHEN (m.facts ->> 'model_version')::integer = m.version THEN m.facts END AS facts) current
$$;

-- A number to four significant digits: 0.0123449999 is 0.01234, -12.5 is -12.5.
CREATE OR REPLACE FUNCTION figure_text(figure double precision) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT trim_scale(to_char(figure, '9.999EEEE')::numeric)::text
$$;

-- A line for each of the newest 100 experiments of an interest, of its project or of papers that were recommended for it:
-- - Tiles in the encoder (shipped, ship, step_time -12.5): Computing attention in tiles halves the step time.
--
-- In PL/pgSQL, as interest_sources_json().
CREATE OR REPLACE FUNCTION interest_experiments(account uuid, interest uuid, project uuid) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((
        SELECT string_agg(line, E'\n' ORDER BY told_at DESC, id DESC)
        FROM (SELECT e.id, e.told_at,
                     '- ' || regexp_replace(coalesce(e.name, ''), '\s+', ' ', 'g')
                     || ' (' || concat_ws(', ', e.status, e.outcome,
                                          nullif(concat_ws(' ', CASE WHEN e.observed_delta IS NOT NULL THEN e.target_metric END,
                                                           figure_text(e.observed_delta)), '')) || ')'
                     || coalesce(': ' || nullif(left(regexp_replace(coalesce(e.decision, e.hypothesis), '\s+', ' ', 'g'), 300), ''),
                                 '') AS line
              FROM experiment e
              WHERE e.id IN ((SELECT p.id FROM experiment p
                              WHERE p.account_id = account AND p.project_id = project AND NOT p.is_deleted
                              ORDER BY p.told_at DESC, p.id DESC LIMIT 100)
                             UNION ALL
                             (SELECT of_paper.id
                              FROM (SELECT DISTINCT o.id, o.told_at FROM experiment_of_paper o WHERE o.interest_id = interest) of_paper
                              ORDER BY of_paper.told_at DESC, of_paper.id DESC LIMIT 100))
              ORDER BY e.told_at DESC, e.id DESC LIMIT 100) newest), '');
END $$;

-- Why a digest has nothing for an interest; null: its recommendations were computed.
CREATE OR REPLACE FUNCTION interest_waits_for(i interest) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT 'No recommendations have been computed for this interest yet: ' || CASE i.pool_status
        WHEN 'ready' THEN 'that is done once a day, or at once by a refresh.'
        WHEN 'failed' THEN 'the search for its papers has failed.'
        ELSE 'its papers are being searched for.' END
    WHERE i.computed_for IS DISTINCT FROM i.context_version
$$;
