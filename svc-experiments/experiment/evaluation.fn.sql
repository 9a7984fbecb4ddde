-- Put the result of an evaluation that names the experiment into its ab_test_results: `eval_runs`, the newest 20, newest first.
-- The same result again changes nothing; one of an experiment that the account has not is left out.
CREATE OR REPLACE FUNCTION experiment_evaluated(account uuid, told jsonb, request_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    result jsonb := told - 'params' - 'experiment_id' - 'arm';
    known jsonb;
BEGIN
    PERFORM linked_run_evaluated(account, told, request_id);
    SELECT * INTO e FROM experiment x
    WHERE x.account_id = account AND x.id = told_id(told, 'experiment_id') FOR UPDATE;
    known := e.ab_test_results -> 'eval_runs';
    IF jsonb_typeof(known) IS DISTINCT FROM 'array' THEN
        known := '[]';
    END IF;
    IF e.id IS NULL OR known @> jsonb_build_array(result) THEN
        RETURN;
    END IF;
    SELECT jsonb_agg(newest.item ORDER BY newest.position) INTO known
    FROM (SELECT result AS item, 0 AS position
          UNION ALL
          SELECT r.item, r.position FROM jsonb_array_elements(known) WITH ORDINALITY AS r (item, position)
          WHERE r.item -> 'run_id' IS DISTINCT FROM result -> 'run_id'
          ORDER BY position LIMIT 20) AS newest;
    PERFORM experiment_change(e, jsonb_build_object(
        'ab_test_results', coalesce(e.ab_test_results, '{}') || jsonb_build_object('eval_runs', known)), NULL, request_id);
END $$;
