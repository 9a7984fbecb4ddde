-- The tickets of experiments at trackers, as they were last read: one row for each that the experiment has had.
--
--   fault    why the newest attempt to read it failed
--   due_at   from when it is read again by whoever asks
CREATE TABLE ticket (
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    source        text NOT NULL,
    id            text NOT NULL,
    title         text,
    state         text,
    url           text,
    read_at       timestamptz,
    fault         text,
    due_at        timestamptz NOT NULL,
    PRIMARY KEY (experiment_id, source, id)
);
