-- Digests that are due, and wait for the day's refresh of their account (digest/digest_message.h). Of an endpoint only the newest.
--
--   local_date  the date of the digest, where its endpoint is
--   settings    what the digest has: {"time_zone", "interest_ids", "limit", "min_score", "skip_empty", "period", "told_until"}
CREATE TABLE digest_due (
    endpoint_id uuid PRIMARY KEY,
    account_id  uuid NOT NULL,
    local_date  date NOT NULL,
    due_at      timestamptz NOT NULL,
    settings    jsonb NOT NULL
);
CREATE INDEX digest_due_of_account ON digest_due (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON digest_due FOR EACH ROW EXECUTE FUNCTION account_skipped();
