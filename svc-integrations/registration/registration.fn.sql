-- The app is another one now, or none: forget what the code host has said of the one before. With `ends_connections` the tokens of
-- users were those of its client, which can neither refresh nor revoke them any more.
CREATE OR REPLACE FUNCTION app_changed(ends_connections boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM app_facts;
    DELETE FROM installation;
    DELETE FROM installation_absence;
    UPDATE connection SET status = 'expired', status_reason = 'the app at the code host was replaced'
    WHERE ends_connections AND provider = 'code_host' AND status = 'active';
END $$;
