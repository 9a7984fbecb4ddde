-- Work goes by the time of its end (retention/retention.h).
CREATE INDEX work_by_end ON work (kind, finished_at) WHERE finished_at IS NOT NULL;
