-- Keep the newest thousand attempts of an experiment, and its newest thousand reports. It is locked.
CREATE OR REPLACE FUNCTION implementations_bound(experiment uuid, now_attempt int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM implementation i WHERE i.experiment_id = experiment AND i.attempt <= now_attempt - 1000;
    DELETE FROM report r
    WHERE r.experiment_id = experiment
      AND r.id <= (SELECT o.id FROM report o WHERE o.experiment_id = experiment ORDER BY o.id DESC OFFSET 1000 LIMIT 1);
END $$;

-- Take a report of an agent.
--
--   An attempt begins with the first report and ends with `completed` or `failed`. After `failed` a report of another
--   status begins the next one; after `completed` it contradicts, and is not taken.
--   The same report twice in an attempt changes nothing. Within an attempt `pr_opened` does not go back to `running`.
--   What a report leaves out, or says null of, stays.
--
-- No row: there is no such experiment. `is_taken` false: it contradicts.
CREATE OR REPLACE FUNCTION experiment_report(experiment uuid, account uuid, by_key uuid, body jsonb, request_id text,
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
        PERFORM implementations_bound(e.id, now_attempt);
        e := experiment_change(e, jsonb_strip_nulls(jsonb_build_object(
            'pipeline_status', wanted, 'pr_url', given -> 'pr_url', 'branch_name', given -> 'branch_name',
            'pr_status', CASE WHEN given ->> 'pr_url' <> coalesce(e.pr_url, '') THEN 'open'
                              WHEN coalesce(given ->> 'pr_url', e.pr_url) IS NOT NULL THEN coalesce(e.pr_status, 'open')
                         END)), by_key, request_id);
    END IF;
    pipeline_status := e.pipeline_status;
    RETURN NEXT;
END $$;

CREATE OR REPLACE FUNCTION implementation_steps_json(i implementation) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN (
    SELECT coalesce(json_agg(json_build_object(
        'name', s.name, 'status', s.status, 'message', s.message, 'started_at', time_json(s.started_at),
        'finished_at', time_json(s.finished_at)) ORDER BY s.position), '[]')
    FROM implementation_step s WHERE s.experiment_id = i.experiment_id AND s.attempt = i.attempt);
END $$;
