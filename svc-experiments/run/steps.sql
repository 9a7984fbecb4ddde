-- name: run_load(task) (read)
-- Returns the row of implementation and what the steps need beside it. No row: the run has ended, or was deleted.
SELECT to_jsonb(i) || jsonb_build_object(
           'key', implementation_key(e.id, i.attempt), 'name', e.name, 'base_branch', e.launch_context -> 'base_branch',
           'steps', (SELECT jsonb_object_agg(s.name, s.status) FROM implementation_step s
                     WHERE (s.experiment_id, s.attempt) = (i.experiment_id, i.attempt)))
FROM implementation i JOIN experiment e ON e.id = i.experiment_id
WHERE i.task_id = :task AND i.finished_at IS NULL AND implementation_is_under_way(e.pipeline_status);

-- name: run_step_begin(task, step, pipeline_status, request_id)
SELECT implementation_step_begin(:task, :step, :pipeline_status, :request_id);

-- name: run_step_end(task, step, message, output, request_id)
SELECT implementation_step_end(:task, :step, :message, :output, :request_id);

-- name: run_wait(task, deadline_ms, request_id)
-- :deadline_ms is the time until the deadline.
SELECT implementation_wait(:task, make_interval(secs => :deadline_ms::float8 / 1000), :request_id);
