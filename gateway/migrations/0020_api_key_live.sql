-- For the limit on keys of an account, which counts those that are not revoked (api_key_limit()): revoked ones are kept for long.
CREATE INDEX api_key_live ON api_key (account_id) WHERE revoked_at IS NULL;
