-- name: run_load (read)
-- $1 task: the row of implementation and what the steps need beside it. No row: the run has ended, or was deleted.
SELECT to_jsonb(i) || jsonb_build_object(
           'key', implementation_key(e.id, i.attempt), 'name', e.name, 'base_branch', e.launch_context -> 'base_branch',
           'steps', (SELECT jsonb_object_agg(s.name, s.status) FROM implementation_step s
                     WHERE (s.experiment_id, s.attempt) = (i.experiment_id, i.attempt)))
FROM implementation i JOIN experiment e ON e.id = i.experiment_id
WHERE i.task_id = $1 AND i.finished_at IS NULL AND implementation_is_under_way(e.pipeline_status);

-- name: run_step_begin
-- $1 task, $2 step, $3 pipeline status, $4 request id.
SELECT implementation_step_begin($1, $2, $3, $4);

-- name: run_step_end
-- $1 task, $2 step, $3 message, $4 output, $5 request id.
SELECT implementation_step_end($1, $2, $3, $4, $5);

-- name: run_wait
-- $1 task, $2 milliseconds until the deadline, $3 request id.
SELECT implementation_wait($1, make_interval(secs => $2::float8 / 1000), $3);
