-- Keys: whatever makes one goes through api_key_add(), so no key has a scope that its maker lacks.

-- A key as the API shows it.
CREATE OR REPLACE FUNCTION api_key_json(k api_key) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', k.id, 'name', k.name, 'kind', k.kind, 'prefix', k.prefix,
        'scopes', to_jsonb(k.scopes), 'repo', k.repo, 'repo_verified', k.repo_verified,
        'interest_id', k.interest_id, 'created_at', time_json(k.created_at),
        'last_used_at', time_json(k.last_used_at), 'expires_at', time_json(k.expires_at),
        'revoked_at', time_json(k.revoked_at),
        'person', (SELECT jsonb_build_object('id', p.id, 'email', p.email, 'name', p.name)
                   FROM api_key_person o JOIN person p ON p.id = o.person_id WHERE o.key_id = k.id),
        'status', CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
                       WHEN k.expires_at <= now() THEN 'expired'
                       ELSE 'active' END)
$$;

-- Whether who acts with the key `actor_key` sees a key of the account; a key is shown to itself. Nobody sees the keys of log-ins at a
-- provider, which nobody has.
CREATE OR REPLACE FUNCTION api_key_is_shown(account uuid, actor_key uuid, key uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (key = actor_key OR is_shown(account, actor_key, (SELECT o.person_id FROM api_key_person o WHERE o.key_id = key)))
       AND NOT EXISTS (SELECT FROM login_key l WHERE l.key_id = key)
$$;

-- Those of the scopes `wanted`, a JSON array, that are not in `held`: `eval:read eval:write`. Null: none.
CREATE OR REPLACE FUNCTION scopes_lacking(held text[], wanted jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(one.scope, ' ' ORDER BY one.position)
    FROM jsonb_array_elements_text(wanted) WITH ORDINALITY AS one (scope, position) WHERE one.scope <> ALL (held)
$$;

-- The key that makes another one or grants it scopes, locked against a revocation or a change under way: of the account, or a
-- personal one of a member of it, whose session shows the account. A row of nulls: it was revoked, deleted or has expired.
CREATE OR REPLACE FUNCTION api_key_maker(account uuid, maker uuid) RETURNS api_key LANGUAGE sql VOLATILE AS $$
    SELECT k FROM api_key k
    WHERE k.id = maker AND k.revoked_at IS NULL AND k.deleted_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
      AND (k.account_id = account
           OR k.kind = 'personal' AND EXISTS (SELECT FROM api_key_person o JOIN member m ON m.person_id = o.person_id
                                              WHERE o.key_id = k.id AND m.account_id = account))
    FOR SHARE
$$;

-- Who makes a key: the person of the key `maker`; without one, the person whose own account it is.
CREATE OR REPLACE FUNCTION api_key_maker_person(account uuid, maker uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT o.person_id FROM api_key_person o WHERE o.key_id = maker), account_person(account))
$$;

-- Whose a personal key was stays known when it is deleted, unless its account goes.
CREATE OR REPLACE FUNCTION api_key_remember() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO former_key (id, account_id, person_id)
    SELECT OLD.id, a.id, p.id
    FROM account a CROSS JOIN LATERAL api_key_maker_person(a.id, OLD.id) AS p (id)
    WHERE a.id = OLD.account_id AND p.id IS NOT NULL;
    RETURN OLD;
END $$;

CREATE OR REPLACE TRIGGER api_key_remember BEFORE DELETE ON api_key FOR EACH ROW WHEN (OLD.kind = 'personal') EXECUTE FUNCTION api_key_remember();

-- The limit on keys that are not revoked, beside temporary ones and those of log-ins, which one more key of the person would exceed: `too_many`, 200 of a
-- person, or `too_many_of_account`, 1,000; null: none. A key without a person counts as that of whose own account it is.
CREATE OR REPLACE FUNCTION api_key_limit(account uuid, person uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN count(*) FILTER (WHERE coalesce(o.person_id, (SELECT account_person(account))) IS NOT DISTINCT FROM person) >= 200
                THEN 'too_many'
                WHEN count(*) >= 1000 THEN 'too_many_of_account' END
    FROM api_key k LEFT JOIN api_key_person o ON o.key_id = k.id
    WHERE k.account_id = account AND k.revoked_at IS NULL AND NOT (k.is_provisioned AND k.purpose IS NULL)
      AND NOT EXISTS (SELECT FROM login_key l WHERE l.key_id = k.id)
$$;

-- Make a key. `maker` is the key that makes it; null: a command, which no key restricts. It is of the maker's person.
--
--   The new key expires no later than its maker. The maker's row is locked against a revocation or a change under way, and the
--   account's row against other creations, so that the limits hold.
--
--   `is_service_made`: a service makes it for the account; `new_purpose` as of the column
--
--   outcome  `made`
--            `maker_refused`: the maker was revoked, deleted or has expired
--            `scopes_lacking`: the maker cannot grant these scopes; `made` is then {"scopes": "eval:read eval:write"}, those that it
--            lacks
--            `too_many`, `too_many_of_account`: as api_key_limit() says
CREATE OR REPLACE FUNCTION api_key_add(account uuid, maker uuid, new_name text, new_kind text, new_prefix text, new_hash bytea,
                                       new_scopes jsonb, new_repo text, new_interest uuid, lifetime interval, is_service_made boolean,
                                       new_purpose text, is_repo_verified boolean, OUT outcome text, OUT made jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    maker_key api_key;
    person uuid := api_key_maker_person(account, maker);
    new_key api_key;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    maker_key := api_key_maker(account, maker);
    IF maker IS NOT NULL AND maker_key.id IS NULL THEN
        outcome := 'maker_refused';
    ELSIF scopes_lacking(maker_key.scopes, new_scopes) IS NOT NULL THEN
        outcome := 'scopes_lacking';
        made := jsonb_build_object('scopes', scopes_lacking(maker_key.scopes, new_scopes));
    ELSIF NOT (is_service_made AND new_purpose IS NULL) THEN
        outcome := api_key_limit(account, person);
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    INSERT INTO api_key (account_id, name, kind, prefix, hash, scopes, repo, interest_id, expires_at, is_provisioned, purpose, repo_verified)
    VALUES (account, new_name, new_kind, new_prefix, new_hash,
            ARRAY(SELECT jsonb_array_elements_text(new_scopes)), new_repo, new_interest,
            least(now() + lifetime, maker_key.expires_at), is_service_made, new_purpose, is_repo_verified)
    RETURNING * INTO new_key;
    INSERT INTO api_key_person (key_id, person_id) SELECT new_key.id, person WHERE person IS NOT NULL;
    made := api_key_json(new_key);
    outcome := 'made';
END $$;

-- The same, with a lifetime in days and without a purpose.
CREATE OR REPLACE FUNCTION api_key_make(account uuid, maker uuid, new_name text, new_kind text, new_prefix text, new_hash bytea,
                             new_scopes jsonb, new_repo text, new_interest uuid, days integer, is_temporary boolean,
                             OUT outcome text, OUT made jsonb)
LANGUAGE sql AS $$
    SELECT a.outcome, a.made FROM api_key_add(account, maker, new_name, new_kind, new_prefix, new_hash, new_scopes, new_repo, new_interest,
                                              make_interval(days => days), is_temporary, NULL, false) a
$$;

-- Make a key for a request.
CREATE OR REPLACE FUNCTION api_key_new(account uuid, maker uuid, new_name text, new_kind text, new_prefix text, new_hash bytea,
                                       new_scopes jsonb, new_repo text, new_interest uuid, days integer,
                                       OUT outcome text, OUT made jsonb)
LANGUAGE sql AS $$
    SELECT m.outcome, m.made FROM api_key_make(account, maker, new_name, new_kind, new_prefix, new_hash, new_scopes, new_repo,
                                               new_interest, days, false) m
$$;

-- What services and people are sent about a key.
CREATE OR REPLACE FUNCTION api_key_event(k api_key) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('key_id', k.id, 'name', k.name, 'kind', k.kind, 'repo', k.repo, 'interest_id', k.interest_id,
                              'expires_at', time_json(k.expires_at))
$$;

-- Notify the other services and the account of a key, `key.revoked` or `key.expiring`; `k` is as it was before. Services are notified once
-- more that a revoked key was deleted, people are not. With the key of an agent the temporary ones of its interest end.
CREATE OR REPLACE FUNCTION api_key_announce(k api_key, type text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    data jsonb := api_key_event(k);
BEGIN
    PERFORM temporary_keys_revoke(k.account_id, k.interest_id, NULL) WHERE type = 'key.revoked' AND k.purpose IS NOT NULL AND k.revoked_at IS NULL;
    PERFORM event_emit('events.account', type, k.account_id, data);
    PERFORM message_emit('events.account', type, k.account_id, data || '{"url": "/console/settings"}')
    WHERE k.revoked_at IS NULL;
END $$;

-- End a key, which has not ended before.
CREATE OR REPLACE FUNCTION api_key_end(k api_key) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM api_key_announce(k, 'key.revoked');
    UPDATE api_key x SET revoked_at = now() WHERE x.id = k.id;
END $$;

-- When a key ends that the key `changer` lets end in so many days (null: never): no later than the changer or, if that is later, than
-- now. So no key prolongs its own life, and one that ends soon shortens that of another without giving it its own.
CREATE OR REPLACE FUNCTION api_key_expiry(k api_key, changer uuid, days integer) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT nullif(least(coalesce(now() + make_interval(days => days), 'infinity'),
                        greatest(coalesce(k.expires_at, 'infinity'), coalesce(c.expires_at, 'infinity'))), 'infinity')
    FROM api_key c WHERE c.id = changer
$$;

-- Which announcement of its end a key that ends at `at` from now on does not need: its person has just been told when.
CREATE OR REPLACE FUNCTION api_key_expiry_told(at timestamptz) RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN at <= now() + interval '168 hours' THEN 7 WHEN at <= now() + interval '720 hours' THEN 30 END
$$;

-- Announce up to 1000 keys that expire in 30 or in 7 days: each once at either time, unless it was made later than that.
-- Returns how many.
CREATE OR REPLACE FUNCTION api_keys_expiring_announce() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    announced bigint;
BEGIN
    WITH due AS (
        SELECT k.id, CASE WHEN k.expires_at <= now() + interval '168 hours' THEN 7 ELSE 30 END AS days FROM api_key k
        WHERE k.revoked_at IS NULL AND k.expiry_told IS DISTINCT FROM 7 AND k.expires_at > now()
          AND k.expires_at <= now() + CASE WHEN k.expiry_told IS NULL THEN interval '720 hours' ELSE interval '168 hours' END
          AND k.created_at <= k.expires_at - interval '168 hours'
          AND (k.created_at <= k.expires_at - interval '720 hours' OR k.expires_at <= now() + interval '168 hours')
        ORDER BY k.expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
    ), marked AS (
        UPDATE api_key k SET expiry_told = due.days FROM due WHERE k.id = due.id RETURNING k
    )
    SELECT count(api_key_announce(marked.k, 'key.expiring')) INTO announced FROM marked;
    RETURN announced;
END $$;
