-- Identities: who a person is at a provider of log-ins. Issuer and subject decide, never an address, but for the two cases below.

-- Add a way to log in to a person. False: the person has another identity of the issuer, or the identity is another person's.
CREATE OR REPLACE FUNCTION identity_add(new_issuer text, new_subject text, person uuid, address text, is_added boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO identity (issuer, subject, person_id, email, is_added) VALUES (new_issuer, new_subject, person, address, $5)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN true;
    END IF;
    UPDATE identity i SET is_added = i.is_added OR $5
    WHERE i.issuer = new_issuer AND i.subject = new_subject AND i.person_id = person;
    RETURN FOUND;
END $$;

-- The person that the address, which the provider has verified, is known of. One who has proved it to nobody may be a squatter, and an
-- operator is worth an attack on the provider: neither is taken by an address. Null: nobody has it.
--
--   outcome  `found`; `operator`; `taken`
CREATE OR REPLACE FUNCTION identity_person_of(address text, OUT outcome text, OUT person uuid) LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p.is_operator THEN 'operator' WHEN NOT p.email_verified THEN 'taken' ELSE 'found' END, p.id
    FROM person p WHERE lower(p.email) = lower(address)
$$;

-- Lock the accounts that a log-in locks, in the order of their ids, so that log-ins at once do not wait for each other in a circle: that of
-- the invitation whose link is followed, and that which the session shows (session_of_person()), or which a new person joins.
CREATE OR REPLACE FUNCTION identity_accounts_lock(token_hash bytea, other uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account a
    WHERE a.id IN (other, (SELECT i.account_id FROM invitation i WHERE i.hash = token_hash)) ORDER BY a.id FOR UPDATE;
END $$;

-- Make a person of an address, who follows the link of an invitation of it (the hash of its token; null: of none), or whose provider's
-- persons join an account. Null: neither; another request may have made the person meanwhile.
CREATE OR REPLACE FUNCTION identity_person_make(address text, new_name text, join_account uuid, join_role text, token_hash bytea)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    made uuid;
BEGIN
    IF join_account IS NULL AND NOT EXISTS (SELECT FROM invitation i
                                            WHERE i.hash = token_hash AND lower(i.email) = lower(address) AND invitation_is_open(i)) THEN
        RETURN NULL;
    END IF;
    PERFORM identity_accounts_lock(token_hash, join_account);
    INSERT INTO person (email, email_verified, name) VALUES (address, true, new_name)
    ON CONFLICT (lower(email)) DO NOTHING RETURNING id INTO made;
    IF made IS NOT NULL THEN -- what an invitation to the account that all join says comes before the role of all
        PERFORM invitation_join(made, i.hash) FROM invitation i
        WHERE i.account_id = join_account AND lower(i.email) = lower(address) AND invitation_is_open(i);
        PERFORM member_add(a.id, made, join_role, NULL) FROM account a WHERE a.id = join_account;
    END IF;
    RETURN made;
END $$;

-- Who logs in. `address` is one that the provider has verified, or null; `may_be_new`: a person may be made of it; `token_hash`: that of
-- the invitation whose link the person has followed, null: of none.
--
--   An identity that is not known is that of the person with its address, unless identity_person_of() refuses it or the person has an
--   identity of the issuer, or that of a new person. The invitation is accepted by the log-in; others of the address stay open, since
--   whoever invites an address decides nothing about its person. Of first log-ins at once one makes the person; the others wait for it
--   in identity_person_make(), and find it when they look again. Who was a member of the account that new persons join, and was deleted
--   since, joins it by an invitation only.
--
--   outcome  `known`, `linked`, `made`: of `person`
--            `unverified`: there is no verified address; `operator`, `taken`: the person of the address must add this way to log in;
--            `uninvited`: no person is made; `disabled`: the person is
CREATE OR REPLACE FUNCTION identity_enter(wanted_issuer text, wanted_subject text, address text, new_name text, may_be_new boolean,
                                          join_account uuid, join_role text, token_hash bytea, OUT outcome text, OUT person uuid)
LANGUAGE plpgsql AS $$
BEGIN
    FOR look IN 1 .. 2 LOOP
        UPDATE identity i SET last_login_at = now(), email = coalesce(address, i.email)
        WHERE i.issuer = wanted_issuer AND i.subject = wanted_subject RETURNING 'known', i.person_id INTO outcome, person;
        IF FOUND THEN
            EXIT;
        ELSIF address IS NULL THEN
            outcome := 'unverified';
            EXIT;
        END IF;
        SELECT f.outcome, f.person INTO outcome, person FROM identity_person_of(address) f WHERE f.person IS NOT NULL;
        IF outcome = 'found' THEN
            outcome := CASE WHEN identity_add(wanted_issuer, wanted_subject, person, address, false) THEN 'linked' ELSE 'taken' END;
        ELSIF outcome IS NULL THEN
            person := CASE WHEN may_be_new THEN identity_person_make(address, new_name, CASE
                          WHEN NOT was_member(join_account, wanted_issuer, wanted_subject, address) THEN join_account END, join_role,
                          token_hash) END;
            outcome := CASE WHEN person IS NULL THEN 'uninvited'
                            WHEN identity_add(wanted_issuer, wanted_subject, person, address, false) THEN 'made' ELSE 'taken' END;
        END IF;
        EXIT WHEN outcome <> 'uninvited';
    END LOOP;
    IF EXISTS (SELECT FROM person p WHERE p.id = person AND p.disabled_at IS NOT NULL) THEN
        outcome := 'disabled';
    ELSIF outcome IN ('known', 'linked', 'made') THEN
        PERFORM identity_accounts_lock(token_hash, person_account(person));
        PERFORM invitation_join(person, token_hash);
    END IF;
END $$;

-- --- Sessions ------------------------------------------------------------------------------------

-- The key of a person's sessions in an account that began with a log-in at a provider. Nobody has its text: its hash is that of
-- random bytes, which are forgotten. It is made at the first log-in, and again after it was revoked, as when a member is removed and
-- comes back. It has the scopes of the last log-in. The account's row is locked.
CREATE OR REPLACE FUNCTION login_key_of(account uuid, person uuid, new_scopes text[]) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    key uuid;
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    UPDATE api_key k SET scopes = new_scopes FROM login_key l, api_key_person o
    WHERE l.key_id = k.id AND o.key_id = k.id AND o.person_id = person AND k.account_id = account AND k.revoked_at IS NULL
    RETURNING k.id INTO key;
    IF NOT FOUND THEN
        INSERT INTO api_key (account_id, name, kind, prefix, hash, scopes)
        VALUES (account, 'log-in', 'personal', 'log-in',
                sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), new_scopes)
        RETURNING id INTO key;
        INSERT INTO api_key_person (key_id, person_id) VALUES (key, person);
        INSERT INTO login_key (key_id) VALUES (key);
    END IF;
    RETURN key;
END $$;

-- The account that a new session of a person shows: the one that their newest session showed, else the oldest membership. Null: they
-- are a member of none.
CREATE OR REPLACE FUNCTION person_account(person uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT m.account_id FROM member m WHERE m.person_id = person
    ORDER BY (SELECT s.id FROM session s WHERE s.person_id = person AND s.account_id = m.account_id ORDER BY s.id DESC LIMIT 1)
             DESC NULLS LAST, m.created_at, m.account_id
    LIMIT 1
$$;

-- A session of a person who has logged in at a provider, with the scopes of a user; its id. Those of an operator besides if the person
-- is one who has added this way to log in: whoever rules over the provider may not become an operator by an address. Null: the person
-- is a member of no account, or disabled.
CREATE OR REPLACE FUNCTION session_of_person(person uuid, used_issuer text, new_hash bytea, user_scopes jsonb, operator_scopes jsonb,
                                             address text, agent text)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    account uuid := person_account(person);
    all_scopes text[];
    made uuid;
BEGIN
    IF account IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    SELECT ARRAY(SELECT jsonb_array_elements_text(user_scopes || CASE WHEN p.is_operator AND i.is_added THEN operator_scopes ELSE '[]' END))
    INTO all_scopes FROM person p JOIN identity i ON i.person_id = p.id AND i.issuer = used_issuer
    WHERE p.id = person AND p.disabled_at IS NULL FOR NO KEY UPDATE OF p;
    IF NOT FOUND THEN -- disabled meanwhile: the session would be valid again later
        RETURN NULL;
    END IF;
    PERFORM sessions_limit(account, person);
    INSERT INTO session (hash, account_id, person_id, key_id, scopes, expires_at, ip, user_agent)
    VALUES (new_hash, account, person, login_key_of(account, person, all_scopes), all_scopes, now() + interval '7 days', address, agent)
    RETURNING id INTO made;
    RETURN made;
END $$;
