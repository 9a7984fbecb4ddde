-- Whatever makes a key goes through api_key_make(): no key has a scope that its maker lacks.

-- Those of the scopes `wanted`, a JSON array, that are not in `held`: `eval:read eval:write`. Null: none.
CREATE FUNCTION scopes_lacking(held text[], wanted jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(one.scope, ' ' ORDER BY one.position)
    FROM jsonb_array_elements_text(wanted) WITH ORDINALITY AS one (scope, position) WHERE one.scope <> ALL (held)
$$;

-- The key that makes another one or grants it scopes, locked against a revocation or a change under way. A row of nulls: it was
-- revoked, deleted or has expired.
CREATE FUNCTION api_key_maker(account uuid, maker uuid) RETURNS api_key LANGUAGE sql VOLATILE AS $$
    SELECT k FROM api_key k
    WHERE k.id = maker AND k.account_id = account AND k.revoked_at IS NULL AND k.deleted_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
    FOR SHARE
$$;

-- Make a key, as api_key_new() did, with two rules more. `outcome` is also `scopes_lacking`: the maker cannot grant these scopes; `made`
-- is then {"scopes": "eval:read eval:write"}, those that it lacks. The 200 keys of an account are those beside the temporary ones.
CREATE FUNCTION api_key_make(account uuid, maker uuid, new_name text, new_kind text, new_prefix text, new_hash bytea,
                             new_scopes jsonb, new_repo text, new_interest uuid, days integer, is_temporary boolean,
                             OUT outcome text, OUT made jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    maker_key api_key;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    maker_key := api_key_maker(account, maker);
    IF maker IS NOT NULL AND maker_key.id IS NULL THEN
        outcome := 'maker_refused';
    ELSIF scopes_lacking(maker_key.scopes, new_scopes) IS NOT NULL THEN
        outcome := 'scopes_lacking';
        made := jsonb_build_object('scopes', scopes_lacking(maker_key.scopes, new_scopes));
    ELSIF NOT is_temporary
          AND (SELECT count(*) FROM api_key k WHERE k.account_id = account AND k.revoked_at IS NULL
                                                AND NOT (k.is_provisioned AND k.purpose IS NULL)) >= 200 THEN
        outcome := 'too_many';
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    INSERT INTO api_key AS k (account_id, name, kind, prefix, hash, scopes, repo, interest_id, expires_at)
    VALUES (account, new_name, new_kind, new_prefix, new_hash,
            ARRAY(SELECT jsonb_array_elements_text(new_scopes)), new_repo, new_interest,
            least(now() + make_interval(days => days), maker_key.expires_at))
    RETURNING api_key_json(k) INTO made;
    outcome := 'made';
END $$;

CREATE OR REPLACE FUNCTION api_key_new(account uuid, maker uuid, new_name text, new_kind text, new_prefix text, new_hash bytea,
                                       new_scopes jsonb, new_repo text, new_interest uuid, days integer,
                                       OUT outcome text, OUT made jsonb)
LANGUAGE sql AS $$
    SELECT m.outcome, m.made FROM api_key_make(account, maker, new_name, new_kind, new_prefix, new_hash, new_scopes, new_repo,
                                               new_interest, days, false) m
$$;

-- Make room for one more temporary key of an interest, of which five may be valid: end the oldest ones. Returns the newest of these.
CREATE FUNCTION api_key_make_room(account uuid, interest uuid) RETURNS uuid LANGUAGE sql AS $$
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

-- As of 0004_provisioned_key.sql. A temporary key takes the place of the oldest of its interest when five are valid.
CREATE OR REPLACE FUNCTION api_key_provision(account uuid, maker uuid, new_name text, new_prefix text, new_hash bytea,
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
    IF new_purpose IS NULL THEN
        replaced := api_key_make_room(account, new_interest);
    ELSE
        UPDATE api_key k SET revoked_at = now()
        WHERE k.account_id = account AND k.purpose = new_purpose AND k.revoked_at IS NULL
        RETURNING k.id INTO replaced;
    END IF;
    SELECT n.outcome, n.made INTO outcome, made
    FROM api_key_make(account, maker, new_name, 'automation', new_prefix, new_hash, new_scopes, new_repo, new_interest,
                      365, new_purpose IS NULL) n;
    IF outcome <> 'made' THEN
        RETURN;
    END IF;
    new_id := made ->> 'id';
    UPDATE api_key k SET
        is_provisioned = true, purpose = new_purpose, repo_verified = is_repo_verified,
        expires_at = least(k.expires_at, now() + make_interval(secs => seconds))
    WHERE k.id = new_id
    RETURNING api_key_json(k) INTO made;
    IF replaced IS NOT NULL THEN
        PERFORM event_emit('events.account', 'key.replaced', account, jsonb_build_object('key_id', replaced, 'by', new_id));
    END IF;
END $$;
