-- The files of runs that were exported (export/export.h): a row a file. A day has several when its runs have changed since.
--
--   settled_until  the file has what runs were changed to before
--   finished_at    null: the file is perhaps not whole
CREATE TABLE run_export (
    day           date NOT NULL,
    target        text NOT NULL CHECK (octet_length(target) <= 4096),
    part          int NOT NULL CHECK (part > 0),
    settled_until timestamptz NOT NULL,
    begun_at      timestamptz NOT NULL DEFAULT now(),
    finished_at   timestamptz,
    runs          bigint,
    bytes         bigint,
    PRIMARY KEY (day, target, part)
);
