-- First answers to requests with an Idempotency-Key, for 24 hours (idempotency.h).
--
--   operation  the operationId; the same key may be used once for each
--   key_hash   SHA-256 of the key: its text is not kept
--   body_hash  SHA-256 over operation, path and body
--   answer     status, fields and body, sealed under a key made from the Idempotency-Key's text
CREATE TABLE idempotency (
    account_id uuid NOT NULL,
    operation  text NOT NULL,
    key_hash   bytea NOT NULL CHECK (length(key_hash) = 32),
    body_hash  bytea NOT NULL CHECK (length(body_hash) = 32),
    answer     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, operation, key_hash)
);

CREATE INDEX idempotency_created_at ON idempotency (created_at);
