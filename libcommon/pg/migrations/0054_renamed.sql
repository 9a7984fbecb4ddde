-- Functions that have other names now, and that the previous release does not call.
DROP FUNCTION IF EXISTS task_failure_tell(task, text);
