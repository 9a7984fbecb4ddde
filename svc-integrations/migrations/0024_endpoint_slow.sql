-- When an attempt was last answered late or not at all (notify/lane.fn.sql); null: never.
ALTER TABLE endpoint ADD COLUMN slow_at timestamptz;
