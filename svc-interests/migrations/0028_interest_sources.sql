-- Sources that an interest's papers may be from; null: all.
ALTER TABLE interest ADD COLUMN sources text[];
