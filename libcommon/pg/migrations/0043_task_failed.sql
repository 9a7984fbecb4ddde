-- Counting and listing the tasks that have failed for good reads only those.
CREATE INDEX task_failed ON task (finished_at) WHERE status = 'failed';
