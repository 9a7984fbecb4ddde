-- The answers that count in the room of an account (request/idempotency.sql).
CREATE INDEX idempotency_large ON idempotency (account_id) WHERE octet_length(answer) > 65536;
