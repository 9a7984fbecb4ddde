-- What the metrics of the present day count (report/today.sql).
CREATE INDEX run_day_of_all ON run_day (day);
CREATE INDEX deliverable_merged_at ON deliverable (closed_at) WHERE stage = 'merged' AND kind = 'pull_request';
