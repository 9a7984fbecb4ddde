-- How a version of the built-in embedder was trained (engine/vector/training.h). Of the versions whose recipe a process
-- knows, that of the greatest recipe, and among these of the greatest number, is current. A process that does not know
-- recipes writes versions of the first one, and uses the greatest number of any recipe, which it can read: the format is
-- the same.
ALTER TABLE embedder ADD COLUMN recipe integer NOT NULL DEFAULT 1;
