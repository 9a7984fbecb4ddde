-- Endpoints of messages to which svc-integrations sends nothing more, for the inbox.
--
--   disabled_at  when; another time is another item of the inbox
CREATE TABLE endpoint_disabled (
    account_id  uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    name        text NOT NULL,
    reason      text NOT NULL,
    disabled_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, endpoint_id)
);
CREATE TRIGGER account_skipped BEFORE INSERT ON endpoint_disabled FOR EACH ROW EXECUTE FUNCTION account_skipped();
