-- How often the agent of an interest looks for something to do, {"every", "weekday", "hour", "minute", "time_zone"} with all members
-- (NULL: schedule_default()), and since when it is paused.
ALTER TABLE interest ADD COLUMN schedule jsonb, ADD COLUMN agent_paused_at timestamptz;

-- When the agent starts next by the schedule: a date where the schedule's clocks are, and the time (NULL: to be computed; infinity: never),
-- and the last such date that is over.
ALTER TABLE provisioning ADD COLUMN next_run_date date, ADD COLUMN next_run_at timestamptz, ADD COLUMN last_run_date date;
CREATE INDEX provisioning_next_run ON provisioning (next_run_at NULLS FIRST);
