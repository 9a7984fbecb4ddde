-- Connections that ended with the place in the account of who made them, for the inbox, until there is one again.
--
--   login      of the provider's user
--   person_id  who made it
--   gone_at    when; another time is another item of the inbox
CREATE TABLE connection_gone (
    account_id uuid NOT NULL,
    provider   text NOT NULL,
    login      text,
    person_id  uuid NOT NULL,
    gone_at    timestamptz NOT NULL,
    PRIMARY KEY (account_id, provider)
);
CREATE TRIGGER account_skipped BEFORE INSERT ON connection_gone FOR EACH ROW EXECUTE FUNCTION account_skipped();
