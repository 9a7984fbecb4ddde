-- Which notice of its expiry was last told of a key: 30 or 7 days before; null: none. Keys are looked for by when they expire.
ALTER TABLE api_key ADD COLUMN expiry_told smallint CHECK (expiry_told IN (7, 30));
CREATE INDEX api_key_expiring ON api_key (expires_at) WHERE revoked_at IS NULL AND expiry_told IS DISTINCT FROM 7;
