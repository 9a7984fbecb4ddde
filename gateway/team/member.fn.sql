-- Members of accounts. Every change of them locks the account's row first, as api_key_add() does, so what is decided about a member
-- holds until the end of the transaction.

-- Whether an account has no owner but this person.
CREATE OR REPLACE FUNCTION is_last_owner(account uuid, person uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT bool_and(m.person_id = person) FROM member m WHERE m.account_id = account AND m.role = 'owner'
$$;

-- A team, whose first owner is `owner`. Returns its id.
CREATE OR REPLACE FUNCTION team_new(new_name text, owner uuid) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    made uuid;
BEGIN
    INSERT INTO account (name) VALUES (new_name) RETURNING id INTO made;
    INSERT INTO member (account_id, person_id, role) VALUES (made, owner, 'owner');
    RETURN made;
END $$;

-- Let a person be a member, unless they are one.
--
--   outcome  `added`; `is_member`; `too_many`: the account has 500 members
CREATE OR REPLACE FUNCTION member_add(account uuid, person uuid, new_role text, inviter uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    IF (SELECT count(*) FROM member m WHERE m.account_id = account AND m.person_id <> person) >= 500 THEN
        RETURN 'too_many';
    END IF;
    INSERT INTO member (account_id, person_id, role, invited_by) VALUES (account, person, new_role, inviter) ON CONFLICT DO NOTHING;
    RETURN CASE WHEN FOUND THEN 'added' ELSE 'is_member' END;
END $$;

-- Give a member another role. The invitations that they could not make any more end.
--
--   outcome  `changed`; `absent`: they are no member; `last_owner`
CREATE OR REPLACE FUNCTION member_set_role(account uuid, person uuid, new_role text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    IF new_role <> 'owner' AND is_last_owner(account, person) THEN
        RETURN 'last_owner';
    END IF;
    UPDATE member m SET role = new_role WHERE m.account_id = account AND m.person_id = person;
    IF NOT FOUND THEN
        RETURN 'absent';
    END IF;
    PERFORM invitations_revoke(account, person);
    RETURN 'changed';
END $$;

-- The person of an address, who is made if there is none. Whoever calls it says that the address is theirs.
CREATE OR REPLACE FUNCTION person_of(address text) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    INSERT INTO person (email, email_verified) VALUES (address, true)
    ON CONFLICT (lower(email)) DO UPDATE SET email_verified = true RETURNING id
$$;
