-- No process has called it since task_put() stopped to.
DROP FUNCTION IF EXISTS task_refuse();
