-- original-sha256: 2bc9c12412bf09efbb754981a680332e3048906acf29254b3c0deafdec848e21
--
-- A template belongs to the account. One that names a repository can be used by keys that are limited to that, too; no other can.
ALTER TABLE template ADD COLUMN repo text;
