-- What the code host reports of pull requests, issues and workflow runs.

-- What an event of the code host reports of a pull request or issue. opened_at and closed_at are null unless the event is
-- about that. Its times are whole seconds: of what happened in the same second, the end is the later, however it arrives, unless it
-- `is_open_now`: it was opened again, or its present state was asked for.
CREATE OR REPLACE FUNCTION code_host_item_update(repo text, kind text, number bigint, state text, opened_at timestamptz,
                                    closed_at timestamptz, told_at timestamptz, is_open_now boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    owner uuid;
BEGIN
    PERFORM repo_lock(repo);
    INSERT INTO code_host_item AS i VALUES (lower(repo), kind, number, state, opened_at, closed_at, told_at)
    ON CONFLICT ON CONSTRAINT code_host_item_pkey DO UPDATE SET
        state = CASE WHEN i.told_at > excluded.told_at OR (i.told_at = excluded.told_at AND excluded.state = 'open' AND NOT is_open_now)
                     THEN coalesce(i.state, excluded.state) ELSE excluded.state END,
        opened_at = least(i.opened_at, excluded.opened_at), closed_at = greatest(i.closed_at, excluded.closed_at),
        told_at = greatest(i.told_at, excluded.told_at);
    FOR owner IN SELECT o.account_id FROM owned_repo o WHERE o.repo_key = lower(repo) ORDER BY 1 LOOP
        PERFORM deliverable_reconcile(owner, lower(repo), kind, number);
    END LOOP;
END $$;

-- Pull requests (`kind` pull_request) or issues as svc-integrations lists them, applied as the events of them. Returns how many.
CREATE OR REPLACE FUNCTION code_host_items_update(repo text, kind text, items jsonb) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(code_host_item_update(repo, kind, i.number, CASE WHEN i.merged THEN 'merged' ELSE i.state END, i.created_at,
                                     i.closed_at, i.updated_at, true))
    FROM (SELECT * FROM jsonb_to_recordset(items) AS x (number bigint, state text, merged boolean, created_at timestamptz,
                                                        closed_at timestamptz, updated_at timestamptz)
          ORDER BY x.number) i
$$;

-- What the code host says of workflow runs of a repository, as svc-integrations shows them, for every account that owns it. A run
-- that is not known yet has started when the code host says, and not now. It may be known from there before it reports itself. One
-- that was removed stays away until it reports itself.
CREATE OR REPLACE FUNCTION workflow_runs_update(repo text, runs jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM repo_lock(repo);
    PERFORM account_lock(o.account_id, false)
    FROM (SELECT x.account_id FROM owned_repo x WHERE x.repo_key = lower(repo) ORDER BY 1) o;
    PERFORM runs_update(jsonb_agg(jsonb_build_object(
        'account', o.account_id, 'repo', repo, 'run_id', w.run -> 'run_id',
        'report', jsonb_strip_nulls(jsonb_build_object('started_at', time_json((w.run ->> 'started_at')::timestamptz))),
        'host', jsonb_build_object('state', CASE w.run ->> 'status' WHEN 'completed' THEN 'ended' ELSE 'running' END,
                                   'outcome', w.run -> 'conclusion', 'told_at', w.run -> 'updated_at'))))
    FROM owned_repo o, jsonb_array_elements(runs) AS w (run)
    WHERE o.repo_key = lower(repo)
      AND (NOT EXISTS (SELECT FROM run_removed x WHERE x.account_id = o.account_id AND x.repo_key = o.repo_key
                                                   AND x.run_key = w.run ->> 'run_id')
           OR EXISTS (SELECT FROM run_key k WHERE k.account_id = o.account_id AND k.repo_key = o.repo_key
                                              AND k.run_key = w.run ->> 'run_id'));
END $$;
