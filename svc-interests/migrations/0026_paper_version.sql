-- The version of the paper in the index of svc-search, which rises with each change of it, so that papers are carried only when they
-- are new or have changed. 0: unknown.
ALTER TABLE paper ADD COLUMN version bigint NOT NULL DEFAULT 0;
