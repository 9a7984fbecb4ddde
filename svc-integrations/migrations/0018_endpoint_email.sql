-- Endpoints of the kind email (notify/endpoint/email_confirmation.h).

-- Of an endpoint of the kind email:
--   email             its address; nothing is sent to it before it is confirmed: the status is unconfirmed
--   secret            the token of the link that ends the mails, sealed, since each mail has it
--   unsubscribe_hash  the SHA-256 of this token
--   refused_days      on how many days since the last success the server refused the address, the last of them on refused_on; null: none
ALTER TABLE endpoint ADD COLUMN email text, ADD COLUMN unsubscribe_hash bytea UNIQUE,
    ADD COLUMN refused_days int, ADD COLUMN refused_on date;
ALTER TABLE endpoint ADD CONSTRAINT endpoint_email CHECK ((kind = 'email') = (email IS NOT NULL AND unsubscribe_hash IS NOT NULL));

-- Mails of all accounts go through one server, so their lanes have places of their own.
ALTER TABLE endpoint_lane ADD COLUMN is_mail boolean NOT NULL DEFAULT false;
CREATE INDEX endpoint_lane_mail_due ON endpoint_lane (due_at) WHERE is_mail AND due_at IS NOT NULL;

-- A mail that asks whether an address wants messages. It is kept for two days, also when its endpoint is gone.
--
--   token    of the link that says yes, for a day; sealed for the endpoint, for the mail that has it
--   hash     its SHA-256
--   sent_at  when the mail server took the mail
--   error    why it did not, the last time
--   used_at  when the link was used
CREATE TABLE email_confirmation (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    email       text NOT NULL,
    token       bytea NOT NULL,
    hash        bytea NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now(),
    sent_at     timestamptz,
    error       text,
    used_at     timestamptz
);

CREATE INDEX email_confirmation_of_endpoint ON email_confirmation (endpoint_id, created_at DESC);
CREATE INDEX email_confirmation_of_account ON email_confirmation (account_id, created_at);
CREATE TRIGGER account_required BEFORE INSERT ON email_confirmation FOR EACH ROW EXECUTE FUNCTION account_required();

-- When an address, in lower case, was asked within the last day: three times at most, whoever asks. A row is kept when the account is gone.
CREATE TABLE email_asked (
    email    text PRIMARY KEY,
    asked_at timestamptz[] NOT NULL
);

-- How many mails an account was sent on a day (UTC).
CREATE TABLE email_day (
    account_id uuid NOT NULL,
    day        date NOT NULL,
    sent       int NOT NULL,
    PRIMARY KEY (account_id, day)
);

CREATE TRIGGER account_required BEFORE INSERT ON email_day FOR EACH ROW EXECUTE FUNCTION account_required();
