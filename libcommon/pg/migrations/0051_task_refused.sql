-- A task that failed by a mistake of who asked for it, such as a repository that does not exist, is told to them and to no operator.
ALTER TABLE task ADD COLUMN is_refused boolean; -- null: as false

-- What is for operators is counted and listed by reading only that.
CREATE INDEX task_dead ON task (finished_at) WHERE status = 'failed' AND is_refused IS NOT TRUE;
DROP INDEX task_failed;
