-- Whether somebody looks at the leases of work (queue/queue.fn.sql).
--
--   seen_at     when the leases were last looked at
--   resumed_at  when that was begun again after a time in which nobody did; null: never
--   held_until  until then work that was begun before resumed_at stays with its workers
CREATE TABLE work_watch (
    is_only    boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    resumed_at timestamptz,
    held_until timestamptz
);

INSERT INTO work_watch DEFAULT VALUES;
