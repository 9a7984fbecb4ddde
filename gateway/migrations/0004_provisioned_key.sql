-- Keys that services make for an account, such as that of an agent in a repository.
ALTER TABLE api_key ADD COLUMN is_provisioned boolean NOT NULL DEFAULT false;

-- The purpose of a provisioned key, named by the service: an account has one valid key for each.
ALTER TABLE api_key ADD COLUMN purpose text CHECK (purpose IS NULL OR is_provisioned);
CREATE UNIQUE INDEX api_key_purpose ON api_key (account_id, purpose) WHERE purpose IS NOT NULL AND revoked_at IS NULL;

-- Provisioned keys without a purpose are temporary: they are deleted when they have expired and another is made.
CREATE INDEX api_key_temporary ON api_key (account_id)
WHERE is_provisioned AND purpose IS NULL AND deleted_at IS NULL;

-- Make a provisioned key in place of the one that has the same purpose, which is revoked.
--
--   `maker` as in api_key_new(). `replaced` is the id of the revoked key, null: there was none.
--
-- `outcome` as of api_key_new(), or `no_account`: the account was deleted. Unless it is `made`, roll back.
--
-- A key that takes the place of another is announced as `key.replaced`, {"key_id", "by"}, and not as a revocation: whoever
-- uses the key goes on with the new one.
CREATE FUNCTION api_key_provision(account uuid, maker uuid, new_name text, new_prefix text, new_hash bytea,
                                  new_scopes jsonb, new_repo text, new_interest uuid, new_purpose text,
                                  seconds bigint, is_repo_verified boolean,
                                  OUT outcome text, OUT made jsonb, OUT replaced uuid)
LANGUAGE plpgsql AS $$
DECLARE
    new_id uuid;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no_account';
        RETURN;
    END IF;
    UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now()), deleted_at = now()
    WHERE k.account_id = account AND k.is_provisioned AND k.purpose IS NULL AND k.deleted_at IS NULL
      AND k.expires_at <= now();
    UPDATE api_key k SET revoked_at = now()
    WHERE k.account_id = account AND k.purpose = new_purpose AND k.revoked_at IS NULL
    RETURNING k.id INTO replaced;
    SELECT n.outcome, (n.made ->> 'id')::uuid INTO outcome, new_id
    FROM api_key_new(account, maker, new_name, 'automation', new_prefix, new_hash, new_scopes, new_repo, new_interest,
                     365) n;
    UPDATE api_key k SET
        is_provisioned = true, purpose = new_purpose, repo_verified = is_repo_verified,
        expires_at = least(k.expires_at, now() + make_interval(secs => seconds))
    WHERE k.id = new_id
    RETURNING api_key_json(k) INTO made;
    IF replaced IS NOT NULL AND new_id IS NOT NULL THEN
        PERFORM event_emit('events.account', 'key.replaced', account, jsonb_build_object('key_id', replaced, 'by', new_id));
    END IF;
END $$;
