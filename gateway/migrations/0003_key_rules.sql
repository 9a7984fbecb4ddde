-- Whether the account has proved that the repository of the key is its own. A key that is made by hand never has.
ALTER TABLE api_key ADD COLUMN repo_verified boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION api_key_json(k api_key) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', k.id, 'name', k.name, 'kind', k.kind, 'prefix', k.prefix,
        'scopes', to_jsonb(k.scopes), 'repo', k.repo, 'repo_verified', k.repo_verified,
        'interest_id', k.interest_id, 'created_at', time_json(k.created_at),
        'last_used_at', time_json(k.last_used_at), 'expires_at', time_json(k.expires_at),
        'revoked_at', time_json(k.revoked_at),
        'status', CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
                       WHEN k.expires_at <= now() THEN 'expired'
                       ELSE 'active' END)
$$;

-- Make a key. `maker` is the key that makes it; null: the command create-user, which no key restricts.
--
--   The new key expires no later than its maker. The maker's row is locked against a revocation under way, and the
--   account's row against other creations, so that an account never has more than 200 keys that are not revoked.
--
-- `outcome` is `made`; `maker_refused`: the maker was revoked, deleted or has expired; `too_many`: the account has 200 keys.
CREATE FUNCTION api_key_new(account uuid, maker uuid, new_name text, new_kind text, new_prefix text, new_hash bytea,
                            new_scopes jsonb, new_repo text, new_interest uuid, days integer,
                            OUT outcome text, OUT made jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    maker_expires_at timestamptz;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    IF maker IS NOT NULL THEN
        SELECT k.expires_at INTO maker_expires_at FROM api_key k
        WHERE k.id = maker AND k.account_id = account AND k.revoked_at IS NULL AND k.deleted_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
        FOR SHARE;
        IF NOT FOUND THEN
            outcome := 'maker_refused';
            RETURN;
        END IF;
    END IF;
    IF (SELECT count(*) FROM api_key k WHERE k.account_id = account AND k.revoked_at IS NULL) >= 200 THEN
        outcome := 'too_many';
        RETURN;
    END IF;
    INSERT INTO api_key AS k (account_id, name, kind, prefix, hash, scopes, repo, interest_id, expires_at)
    VALUES (account, new_name, new_kind, new_prefix, new_hash,
            ARRAY(SELECT jsonb_array_elements_text(new_scopes)), new_repo, new_interest,
            least(now() + make_interval(days => days), maker_expires_at))
    RETURNING api_key_json(k) INTO made;
    outcome := 'made';
END $$;
