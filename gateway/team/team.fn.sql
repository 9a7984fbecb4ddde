-- A team: an account with its members, and what those who manage it change.

-- A member as the API shows it; `last_seen_at` is when they last used a session or a personal key of the account.
CREATE OR REPLACE FUNCTION member_json(account uuid, person uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'person_id', p.id, 'email', p.email, 'name', p.name, 'role', m.role, 'created_at', time_json(m.created_at),
        'last_seen_at', time_json(greatest(
            (SELECT max(s.last_seen_at) FROM session s WHERE s.account_id = account AND s.person_id = p.id),
            (SELECT max(k.last_used_at) FROM api_key k JOIN api_key_person o ON o.key_id = k.id
             WHERE o.person_id = p.id AND k.account_id = account AND k.kind = 'personal'))))
    FROM member m JOIN person p ON p.id = m.person_id WHERE m.account_id = account AND m.person_id = person
$$;

-- An account as lists of accounts show it, with the role of the person there.
CREATE OR REPLACE FUNCTION account_json(account uuid, person uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', a.id, 'name', coalesce(a.name, a.email), 'email', account_email(a.id), 'created_at', time_json(a.created_at),
        'role', (SELECT m.role FROM member m WHERE m.account_id = a.id AND m.person_id = person))
    FROM account a WHERE a.id = account
$$;

-- The person who acts with a personal key; null: it is nobody's, or an automation key.
CREATE OR REPLACE FUNCTION acting_person(key uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT o.person_id FROM api_key_person o JOIN api_key k ON k.id = o.key_id WHERE o.key_id = key AND k.kind = 'personal'
$$;

-- A team as the API shows it to who acts with a key.
CREATE OR REPLACE FUNCTION team_json(account uuid, actor_key uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'account', jsonb_build_object('id', a.id, 'name', coalesce(a.name, a.email), 'created_at', time_json(a.created_at)),
        'you', (SELECT jsonb_build_object('person_id', p.id, 'email', p.email, 'name', p.name, 'role', m.role)
                FROM member m JOIN person p ON p.id = m.person_id WHERE m.account_id = account AND p.id = acting_person(actor_key)),
        'members', (SELECT coalesce(jsonb_agg(member_json(account, m.person_id) ORDER BY m.created_at, m.person_id), '[]')
                    FROM member m WHERE m.account_id = account),
        'invitations', (SELECT coalesce(jsonb_agg(invitation_json(i) ORDER BY i.id), '[]')
                        FROM invitation i WHERE i.account_id = account AND invitation_is_open(i)))
    FROM account a WHERE a.id = account
$$;

-- Whether who acts with a key may change a member, or an invitation, with the role `old`, null: none, to `new`: only an owner touches
-- what is an owner's. The account is locked.
CREATE OR REPLACE FUNCTION may_manage(account uuid, actor_key uuid, old text, new text) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT a.role = 'owner' OR a.role = 'admin' AND old IS DISTINCT FROM 'owner' AND new IS DISTINCT FROM 'owner'
    FROM actor_lock(account, actor_key) a
$$;

-- Whether a key may change the team. An automation key goes on when the person who made it has left, but this only while they are an owner or
-- admin: they know its text, and could invite themselves again. Locks the account.
CREATE OR REPLACE FUNCTION team_is_open_to(account uuid, actor_key uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    RETURN EXISTS (SELECT FROM api_key k, actor(account, actor_key) a
                   WHERE k.id = actor_key AND (k.kind <> 'automation' OR a.role = 'admin'));
END $$;

-- Revoke the open invitations of a person that they could not make any more: an admin those of owners, anybody else all.
CREATE OR REPLACE FUNCTION invitations_revoke(account uuid, person uuid) RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE invitation i SET revoked_at = now()
    WHERE i.account_id = account AND i.invited_by = person AND i.accepted_at IS NULL AND i.revoked_at IS NULL
      AND NOT EXISTS (SELECT FROM member m WHERE m.account_id = account AND m.person_id = person
                      AND (m.role = 'owner' OR m.role = 'admin' AND i.role <> 'owner'))
$$;

-- Give a member another role, on behalf of who acts with a key.
--
--   outcome  `changed`; `absent`: they are no member; `refused`: may_manage(); `last_owner`
CREATE OR REPLACE FUNCTION member_change(account uuid, actor_key uuid, person uuid, new_role text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    is_allowed boolean;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    SELECT may_manage(account, actor_key, m.role, new_role) INTO is_allowed
    FROM member m WHERE m.account_id = account AND m.person_id = person;
    IF NOT FOUND THEN
        RETURN 'absent';
    ELSIF is_allowed IS NOT TRUE THEN
        RETURN 'refused';
    END IF;
    RETURN member_set_role(account, person, new_role);
END $$;

-- End the personal keys of a person in an account. A key without a person is that of whose own account it is.
CREATE OR REPLACE FUNCTION person_keys_revoke(account uuid, person uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    k api_key;
BEGIN
    FOR k IN SELECT x.* FROM api_key x LEFT JOIN api_key_person o ON o.key_id = x.id
             WHERE x.account_id = account AND x.kind = 'personal' AND x.revoked_at IS NULL
               AND coalesce(o.person_id, account_person(account)) = person
             ORDER BY x.id FOR UPDATE OF x
    LOOP
        PERFORM api_key_end(k);
    END LOOP;
END $$;

-- Tell services that a person acts in an account no more, `member.removed` or `member.disabled`.
--
--   person_id
--   key_ids     their personal keys and those that they had, the newest 10,000: a service may know no more of who made something than the key
--   is_founder  whether the account was their own: what was made before a service noted keys is the founder's
CREATE OR REPLACE FUNCTION member_gone_announce(account uuid, person uuid, type text) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT event_emit('events.account', type, account, jsonb_build_object(
        'person_id', person, 'is_founder', account_person(account) IS NOT DISTINCT FROM person,
        'key_ids', (SELECT coalesce(jsonb_agg(k.id), '[]')
                    FROM (SELECT x.id FROM api_key x JOIN api_key_person o ON o.key_id = x.id
                          WHERE o.person_id = person AND x.kind = 'personal'
                          UNION ALL
                          SELECT x.id FROM api_key x
                          WHERE x.account_id = account AND x.kind = 'personal' AND account_person(account) = person
                            AND NOT EXISTS (SELECT FROM api_key_person o WHERE o.key_id = x.id)
                          UNION ALL
                          SELECT f.id FROM former_key f WHERE f.person_id = person
                          ORDER BY id DESC LIMIT 10000) k)))
$$;

-- Remove a member on behalf of who acts with a key, or let them leave: their personal and temporary keys, their sessions and the invitations
-- that they have made, and one of their address, end. Services are told by `member.removed`.
--
--   outcome  `removed`; `absent`: they are no member; `refused`: may_manage(); `last_owner`
CREATE OR REPLACE FUNCTION member_remove(account uuid, actor_key uuid, person uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    is_allowed boolean;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    SELECT acting_person(actor_key) IS NOT DISTINCT FROM person OR may_manage(account, actor_key, m.role, NULL) INTO is_allowed
    FROM member m WHERE m.account_id = account AND m.person_id = person;
    IF NOT FOUND THEN
        RETURN 'absent';
    ELSIF is_allowed IS NOT TRUE THEN
        RETURN 'refused';
    ELSIF is_last_owner(account, person) THEN
        RETURN 'last_owner';
    END IF;
    DELETE FROM member m WHERE m.account_id = account AND m.person_id = person;
    UPDATE invitation i SET revoked_at = now() FROM person p
    WHERE p.id = person AND i.account_id = account AND lower(i.email) = lower(p.email) AND i.accepted_at IS NULL AND i.revoked_at IS NULL;
    DELETE FROM session s WHERE s.account_id = account AND s.person_id = person;
    PERFORM person_keys_revoke(account, person), temporary_keys_revoke(account, NULL, person);
    PERFORM invitations_revoke(account, person);
    PERFORM member_gone_announce(account, person, 'member.removed');
    RETURN 'removed';
END $$;

-- Refuse a person's keys and sessions in every account, or, `is_undone`, no more; the person, null: nobody has the address. Sessions,
-- temporary keys and the invitations that they have made end for good. A key that is nobody's in their own account becomes theirs: it would go on.
-- Services are told by `member.disabled` in each of their accounts.
CREATE OR REPLACE FUNCTION person_disable(address text, is_undone boolean) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    person uuid;
BEGIN
    PERFORM FROM account a -- in which the person may be making an invitation
    WHERE a.id IN (SELECT m.account_id FROM member m JOIN person p ON p.id = m.person_id WHERE lower(p.email) = lower(address))
    ORDER BY a.id FOR UPDATE;
    UPDATE person p SET disabled_at = CASE WHEN NOT is_undone THEN coalesce(p.disabled_at, now()) END
    WHERE lower(p.email) = lower(address) RETURNING p.id INTO person;
    IF person IS NULL OR is_undone THEN
        RETURN person;
    END IF;
    INSERT INTO api_key_person (key_id, person_id)
    SELECT k.id, person FROM account a JOIN api_key k ON k.account_id = a.id
    WHERE lower(a.email) = lower(address) AND k.kind = 'personal'
    ON CONFLICT DO NOTHING;
    DELETE FROM session s
    WHERE s.person_id = person OR s.key_id IN (SELECT o.key_id FROM api_key_person o WHERE o.person_id = person);
    UPDATE invitation i SET revoked_at = now() WHERE i.invited_by = person AND i.accepted_at IS NULL AND i.revoked_at IS NULL;
    PERFORM temporary_keys_revoke(m.account_id, NULL, person), member_gone_announce(m.account_id, person, 'member.disabled')
    FROM member m WHERE m.person_id = person;
    RETURN person;
END $$;

-- A new team of who acts with a key; null: they own 100 accounts, or nobody acts with it.
CREATE OR REPLACE FUNCTION team_found(actor_key uuid, new_name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    founder uuid := acting_person(actor_key);
    made uuid;
BEGIN
    PERFORM FROM person p WHERE p.id = founder FOR UPDATE;
    IF NOT FOUND OR (SELECT count(*) FROM member m WHERE m.person_id = founder AND m.role = 'owner') >= 100 THEN
        RETURN NULL;
    END IF;
    made := team_new(new_name, founder);
    RETURN account_json(made, founder);
END $$;

-- Let a session show another account of its person; the session. Null: they are no member of it, or there is no such session. One
-- that was made at a provider is of the person's key of that account from now on, so that it outlives their place in the other one.
CREATE OR REPLACE FUNCTION session_switch(session_hash bytea, account uuid) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    UPDATE session s
    SET account_id = account,
        key_id = CASE WHEN EXISTS (SELECT FROM login_key l WHERE l.key_id = s.key_id)
                      THEN login_key_of(account, s.person_id, s.scopes) ELSE s.key_id END
    FROM session_valid(session_hash) v
    WHERE s.id = (v.s).id
      AND EXISTS (SELECT FROM member m WHERE m.account_id = account AND m.person_id = s.person_id);
    RETURN (SELECT session_json(v.s, v.scopes) FROM session_valid(session_hash) v WHERE (v.s).account_id = account);
END $$;
