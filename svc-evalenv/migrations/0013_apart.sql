-- original-sha256: b9eb4019c026d7af585d8f30d687d44c413fed0cd38d3d8df20e3fcee1e54e89
--
-- What is large is stored apart from the rows that lists and claims read; an account may have a number of queued builds and runs
-- of its own; and a template says how long its runs may take.

-- ---- Logs ----
--
-- The end of what a worker has told of its output. Most heartbeats add to it, and rewrite this row instead of that of the work.
CREATE TABLE work_log (
    work_id uuid PRIMARY KEY REFERENCES work ON DELETE CASCADE,
    tail    text NOT NULL CHECK (char_length(tail) <= 16384)
);

INSERT INTO work_log (work_id, tail) SELECT id, log_tail FROM work WHERE log_tail <> '';

-- ---- Runs ----
--
-- A member of a run is in the column of run_large when its text has more than 16 KiB, and that of run is null; else in run.
CREATE TABLE run_large (
    run_id    uuid PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    params    jsonb,
    metrics   jsonb,
    results   jsonb,
    artifacts jsonb
);

ALTER TABLE run ALTER COLUMN params DROP NOT NULL;

INSERT INTO run_large (run_id, params, metrics, results, artifacts)
SELECT r.id, CASE WHEN octet_length(r.params::text) > 16384 THEN r.params END,
       CASE WHEN octet_length(r.metrics::text) > 16384 THEN r.metrics END,
       CASE WHEN octet_length(r.results::text) > 16384 THEN r.results END,
       CASE WHEN octet_length(r.artifacts::text) > 16384 THEN r.artifacts END
FROM run r
WHERE greatest(octet_length(r.params::text), octet_length(r.metrics::text), octet_length(r.results::text),
               octet_length(r.artifacts::text)) > 16384;

UPDATE run r SET
    params = CASE WHEN l.params IS NULL THEN r.params END, metrics = CASE WHEN l.metrics IS NULL THEN r.metrics END,
    results = CASE WHEN l.results IS NULL THEN r.results END, artifacts = CASE WHEN l.artifacts IS NULL THEN r.artifacts END
FROM run_large l WHERE l.run_id = r.id;

-- work.log_tail is not used any more. It stays for one release: statements of the former version that return rows of `work` fail while
-- the columns change.

-- ---- Bounds ----

DROP TRIGGER IF EXISTS work_bound ON work;
DROP FUNCTION IF EXISTS work_bound();
DROP INDEX work_unfinished;
CREATE INDEX work_waiting ON work (account_id, kind) WHERE status = 'queued';
