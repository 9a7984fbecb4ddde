-- What becomes of the inbox's items as messages: each new one is told once.
--
-- When an account's inbox is looked at next for new items: at once after something that makes one, and when time makes one.
CREATE TABLE inbox_look (
    account_id uuid PRIMARY KEY,
    look_at    timestamptz NOT NULL
);
CREATE INDEX inbox_look_due ON inbox_look (look_at);

-- The items that were told in the last seven days.
CREATE TABLE inbox_told (
    account_id uuid NOT NULL,
    item       uuid NOT NULL,
    told_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, item)
);

-- Keys that expire soon, as the gateway tells.
CREATE TABLE key_expiring (
    account_id uuid NOT NULL,
    key_id     uuid NOT NULL,
    name       text NOT NULL,
    repo       text, -- null: the key is limited to none
    expires_at timestamptz NOT NULL,
    told_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, key_id)
);
CREATE TRIGGER account_skipped BEFORE INSERT ON inbox_look FOR EACH ROW EXECUTE FUNCTION account_skipped();
CREATE TRIGGER account_skipped BEFORE INSERT ON key_expiring FOR EACH ROW EXECUTE FUNCTION account_skipped();

INSERT INTO inbox_look (account_id, look_at)
SELECT account_id, now() FROM installation
UNION SELECT account_id, now() FROM deliverable WHERE stage = 'open' AND kind <> 'other'
UNION SELECT account_id, now() FROM run_repo WHERE last_outcome = 'failed';
