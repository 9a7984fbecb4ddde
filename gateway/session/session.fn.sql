-- Sessions of browsers.

-- The sessions that are valid now, with what their key has left of their scopes. The role of their person restricts these further
-- (key/role.h).
CREATE OR REPLACE FUNCTION session_valid(wanted bytea) RETURNS TABLE (s session, k api_key, scopes text[])
LANGUAGE sql STABLE AS $$
    SELECT s, k, ARRAY(SELECT scope FROM unnest(k.scopes) scope WHERE scope = ANY (s.scopes))
    FROM session s JOIN api_key k ON k.id = s.key_id
    WHERE s.hash = wanted AND s.expires_at > now() AND s.last_seen_at > now() - interval '12 hours'
      AND k.revoked_at IS NULL AND k.deleted_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
      AND (s.person_id IS NULL OR EXISTS (SELECT FROM member m JOIN person p ON p.id = m.person_id
                                          WHERE m.account_id = s.account_id AND p.id = s.person_id AND p.disabled_at IS NULL))
$$;

-- A session as POST and GET /session show it, but for what the role takes from its scopes.
CREATE OR REPLACE FUNCTION session_json(s session, scopes text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'account', (SELECT jsonb_build_object('id', a.id, 'email', account_email(a.id), 'name', coalesce(a.name, a.email))
                    FROM account a WHERE a.id = s.account_id),
        'person', s.person_id,
        'role', coalesce((SELECT m.role FROM member m WHERE m.account_id = s.account_id AND m.person_id = s.person_id), 'owner'),
        'scopes', to_jsonb(scopes), 'expires_at', time_json(s.expires_at))
$$;

-- Let a person, or an account whose keys are nobody's, have at most 19 sessions: the oldest end. The account's row and the person's
-- are locked.
CREATE OR REPLACE FUNCTION sessions_limit(account uuid, person uuid) RETURNS void LANGUAGE sql AS $$
    DELETE FROM session
    WHERE id IN (SELECT s.id FROM session s WHERE s.person_id = person OR person IS NULL AND s.account_id = account
                 ORDER BY s.id DESC OFFSET 19)
$$;

-- Log in with the personal key that has the hash `key_hash`. No row: there is no such key, or it is not valid.
--
--   The account's row and the person's are locked against other log-ins, so that a person, or an account without one, has at most 20
--   sessions: the oldest end. The key's row is locked against a revocation under way.
CREATE OR REPLACE FUNCTION session_new(key_hash bytea, new_hash bytea, address text, agent text) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
DECLARE
    k api_key;
    person uuid;
    made session;
BEGIN
    PERFORM FROM account a WHERE a.id = (SELECT account_id FROM api_key WHERE hash = key_hash) FOR UPDATE;
    SELECT * INTO k FROM api_key
    WHERE hash = key_hash AND kind = 'personal' AND revoked_at IS NULL AND deleted_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp())
    FOR SHARE;
    IF k.id IS NULL THEN
        RETURN;
    END IF;
    SELECT o.person_id INTO person FROM api_key_person o WHERE o.key_id = k.id;
    PERFORM FROM person p WHERE p.id = person FOR NO KEY UPDATE;
    PERFORM sessions_limit(k.account_id, person);
    INSERT INTO session (hash, account_id, person_id, key_id, scopes, expires_at, ip, user_agent)
    VALUES (new_hash, k.account_id, person, k.id, k.scopes, least(now() + interval '7 days', k.expires_at), address, agent)
    RETURNING * INTO made;
    RETURN QUERY SELECT session_json(v.s, v.scopes) FROM session_valid(new_hash) v;
END $$;
