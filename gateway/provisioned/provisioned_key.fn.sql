-- Keys that services make for an account.

-- Make room for one more temporary key of an interest, of which five may be valid: end the oldest ones. Returns the newest of these.
CREATE OR REPLACE FUNCTION api_key_make_room(account uuid, interest uuid) RETURNS uuid LANGUAGE sql AS $$
    WITH ended AS (
        UPDATE api_key k SET revoked_at = now(), deleted_at = now()
        WHERE k.id IN (SELECT t.id FROM api_key t
                       WHERE t.account_id = account AND t.interest_id = interest AND t.is_provisioned AND t.purpose IS NULL
                         AND t.revoked_at IS NULL
                       ORDER BY t.id DESC OFFSET 4)
        RETURNING k.id
    )
    SELECT id FROM ended ORDER BY id DESC LIMIT 1
$$;

-- End the temporary keys of an interest, or those that a person has made; null: of any.
CREATE OR REPLACE FUNCTION temporary_keys_revoke(account uuid, of_interest uuid, of_person uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    k api_key;
BEGIN
    FOR k IN SELECT x.* FROM api_key x
             WHERE x.account_id = account AND x.is_provisioned AND x.purpose IS NULL AND x.revoked_at IS NULL AND x.deleted_at IS NULL
               AND (of_interest IS NULL OR x.interest_id = of_interest)
               AND (of_person IS NULL OR EXISTS (SELECT FROM api_key_person o WHERE o.key_id = x.id AND o.person_id = of_person))
             ORDER BY x.id FOR UPDATE
    LOOP
        PERFORM api_key_end(k);
    END LOOP;
END $$;

-- Make a provisioned key in place of the one that has the same purpose, which is revoked. A temporary key takes the place of the
-- oldest of its interest when five are valid.
--
--   `maker` as in api_key_add(). `replaced` is the id of the revoked key, null: there was none.
--
-- `outcome` as of api_key_add(), or `no_account`: the account was deleted. Unless it is `made`, roll back.
--
-- A key that takes the place of another is announced as `key.replaced`, {"key_id", "by"}, and not as a revocation: whoever
-- uses the key goes on with the new one.
CREATE OR REPLACE FUNCTION api_key_provision(account uuid, maker uuid, new_name text, new_prefix text, new_hash bytea,
                                             new_scopes jsonb, new_repo text, new_interest uuid, new_purpose text,
                                             seconds bigint, is_repo_verified boolean,
                                             OUT outcome text, OUT made jsonb, OUT replaced uuid)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no_account';
        RETURN;
    END IF;
    UPDATE api_key k SET revoked_at = coalesce(k.revoked_at, now()), deleted_at = now()
    WHERE k.account_id = account AND k.is_provisioned AND k.purpose IS NULL AND k.deleted_at IS NULL
      AND k.expires_at <= now();
    IF new_purpose IS NULL THEN
        replaced := api_key_make_room(account, new_interest);
    ELSE
        UPDATE api_key k SET revoked_at = now()
        WHERE k.account_id = account AND k.purpose = new_purpose AND k.revoked_at IS NULL
        RETURNING k.id INTO replaced;
    END IF;
    SELECT n.outcome, n.made INTO outcome, made
    FROM api_key_add(account, maker, new_name, 'automation', new_prefix, new_hash, new_scopes, new_repo, new_interest,
                     least(make_interval(days => 365), make_interval(secs => seconds)), true, new_purpose, is_repo_verified) n;
    IF outcome = 'made' AND replaced IS NOT NULL THEN
        PERFORM event_emit('events.account', 'key.replaced', account, jsonb_build_object('key_id', replaced, 'by', made -> 'id'));
    END IF;
END $$;
