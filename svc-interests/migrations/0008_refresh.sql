-- The interests that a running refresh task has stored recommendations for. A later attempt of the task leaves them out. The
-- rows of a task are deleted when it is completed, and with the task.
CREATE TABLE refreshed_interest (
    task_id     uuid NOT NULL REFERENCES task ON DELETE CASCADE,
    interest_id uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    recommended integer NOT NULL, -- number of new recommendations
    pool_size   integer NOT NULL,
    PRIMARY KEY (task_id, interest_id)
);

CREATE INDEX refreshed_interest_of_interest ON refreshed_interest (interest_id);

-- When the examples of a model were read: of two refits at the same time, the one that read later wins.
ALTER TABLE preference_model ADD COLUMN examples_at timestamptz NOT NULL DEFAULT now();
