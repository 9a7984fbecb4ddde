-- What GET of an interest shows beyond its row. In PL/pgSQL, so that the statement which calls them has none of their tables in its
-- own plan: setting those up took longer than all else, and most interests have no rows there.

-- What its context leads to; context_sources_json() was the same, planned anew in each call.
CREATE FUNCTION interest_sources_json(interest uuid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT jsonb_agg(jsonb_build_object(
        'url', s.url, 'kind', s.kind, 'status', s.status, 'title', s.title, 'characters', s.characters,
        'read_at', time_json(s.read_at), 'error', s.error) ORDER BY s.place, s.url)
        FROM context_source s WHERE s.interest_id = interest), '[]');
END $$;

-- A line for each of the newest 100 experiments of an interest, of its project or of papers that were recommended for it:
-- - Tiles in the encoder (shipped, ship, step_time -12.5): Computing attention in tiles halves the step time.
CREATE FUNCTION interest_experiments(account uuid, interest uuid, project uuid) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((
        SELECT string_agg(line, E'\n' ORDER BY told_at DESC, id DESC)
        FROM (SELECT e.id, e.told_at,
                     '- ' || regexp_replace(coalesce(e.name, ''), '\s+', ' ', 'g')
                     || ' (' || concat_ws(', ', e.status, e.outcome,
                                          nullif(concat_ws(' ', CASE WHEN e.observed_delta IS NOT NULL THEN e.target_metric END,
                                                           e.observed_delta), '')) || ')'
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
