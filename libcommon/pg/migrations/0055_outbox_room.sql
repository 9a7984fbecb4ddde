-- A row is marked when it is sent. Its new version goes into the same page, which then need not be logged with the whole row again: where
-- rows are sent many at once, their pages would be full by then.
ALTER TABLE outbox SET (fillfactor = 50);
