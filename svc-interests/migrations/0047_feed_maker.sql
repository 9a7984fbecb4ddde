-- Who made a feed, and knows its address.
--
--   key_id     with which; null: a version that did not note it
--   person_id  whose key that is; null: not known, or an automation key
ALTER TABLE feed ADD COLUMN key_id uuid, ADD COLUMN person_id uuid;

-- Who lately lost their place in an account, so that a feed that they are making meanwhile is not made.
CREATE TABLE feed_maker_gone (
    account_id uuid NOT NULL,
    person_id  uuid NOT NULL,
    key_ids    uuid[] NOT NULL, -- of the person
    gone_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, person_id)
);
CREATE INDEX feed_maker_gone_at ON feed_maker_gone (gone_at);
CREATE TRIGGER account_skipped BEFORE INSERT ON feed_maker_gone FOR EACH ROW EXECUTE FUNCTION account_skipped();

DROP FUNCTION IF EXISTS feed_new(uuid, uuid, double precision, bytea);
