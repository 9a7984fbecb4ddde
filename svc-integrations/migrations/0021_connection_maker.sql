-- Who made a connection. It acts with their rights at the provider, so it ends with their place in the account.
--
--   key_id     with which it was made; null: a version that did not note it
--   person_id  whose key that is; null: not known, or an automation key
ALTER TABLE connection ADD COLUMN key_id uuid, ADD COLUMN person_id uuid;

-- Who lately lost their place in an account, so that a connection that they are making meanwhile is not made.
CREATE TABLE connection_maker_gone (
    account_id uuid NOT NULL,
    person_id  uuid NOT NULL,
    key_ids    uuid[] NOT NULL, -- of the person
    gone_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, person_id)
);
CREATE INDEX connection_maker_gone_at ON connection_maker_gone (gone_at);
CREATE TRIGGER account_skipped BEFORE INSERT ON connection_maker_gone FOR EACH ROW EXECUTE FUNCTION account_skipped();
