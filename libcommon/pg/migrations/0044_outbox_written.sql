-- Rows of the outbox are no longer announced by NOTIFY. At commit it takes a lock that the whole server has once, and keeps it
-- until the commit is on disk, so that all commits of tasks and events, of every service, waited for each other. A notice
-- goes to the client that wrote the rows; it tells the others (task/outbox_written.h).
CREATE OR REPLACE FUNCTION outbox_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'the outbox has new rows' USING ERRCODE = 'XO001';
    RETURN NULL;
END $$;
