-- Persons: the owner of an account of one person, and who acts with a key.

-- An account with an address is that person's own: make the person, if there is none, and let it be an owner. The person of an
-- operator's account is an operator. A trigger, since the release before makes accounts, too, and knows no persons.
CREATE OR REPLACE FUNCTION account_owner() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    owner uuid;
BEGIN
    INSERT INTO person AS p (email, email_verified, is_operator) VALUES (NEW.email, true, NEW.is_operator)
    ON CONFLICT (lower(email)) DO UPDATE SET email_verified = true, is_operator = p.is_operator OR excluded.is_operator
    RETURNING p.id INTO owner;
    IF TG_OP = 'INSERT' THEN -- later the account has owners, who may have removed this one
        INSERT INTO member (account_id, person_id, role) VALUES (NEW.id, owner, 'owner');
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER account_owner AFTER INSERT OR UPDATE OF is_operator ON account FOR EACH ROW
    WHEN (NEW.email IS NOT NULL) EXECUTE FUNCTION account_owner();

-- With an account go its former keys, its events, and the persons who are members of no other, but for disabled ones: another log-in would
-- make them anew. They are locked, so that none becomes a member meanwhile.
CREATE OR REPLACE FUNCTION account_persons_forget() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM former_key f WHERE f.account_id = OLD.id;
    PERFORM FROM person p WHERE p.id IN (SELECT m.person_id FROM member m WHERE m.account_id = OLD.id) ORDER BY p.id FOR UPDATE;
    DELETE FROM person p
    WHERE p.id IN (SELECT m.person_id FROM member m WHERE m.account_id = OLD.id) AND p.disabled_at IS NULL
      AND NOT EXISTS (SELECT FROM member m WHERE m.person_id = p.id AND m.account_id <> OLD.id);
    DELETE FROM outbox o WHERE o.account_id = OLD.id AND o.type <> 'account.deleted';
    RETURN OLD;
END $$;

CREATE OR REPLACE TRIGGER account_persons_forget BEFORE DELETE ON account FOR EACH ROW EXECUTE FUNCTION account_persons_forget();

-- The person whose own account it is; null: it is a team's.
CREATE OR REPLACE FUNCTION account_person(account uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT p.id FROM account a JOIN person p ON lower(p.email) = lower(a.email) WHERE a.id = account
$$;

-- The address of an account: its own, or that of a team's first owner.
CREATE OR REPLACE FUNCTION account_email(account uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(a.email, (SELECT p.email FROM member m JOIN person p ON p.id = m.person_id
                              WHERE m.account_id = account AND m.role = 'owner' ORDER BY m.created_at, m.person_id LIMIT 1))
    FROM account a WHERE a.id = account
$$;

-- Who acts with a key in an account: the person, and the role that decides what is theirs. A personal key of nobody acts as an owner. An
-- automation key acts with the role that its maker has now, an owner's as an admin: whoever was lowered or has left knows its text.
-- `role` null: the person is no member, or disabled; an automation key then has what its scopes allow of the account's data, but nothing
-- that is a person's. No row: there is no such key.
CREATE OR REPLACE FUNCTION actor(account uuid, key uuid) RETURNS TABLE (person_id uuid, role text) LANGUAGE sql STABLE AS $$
    SELECT o.person_id, CASE WHEN k.kind = 'automation' AND m.role = 'owner' THEN 'admin'
                             WHEN k.kind = 'personal' AND o.person_id IS NULL THEN 'owner'
                             ELSE m.role END
    FROM api_key k
    LEFT JOIN api_key_person o ON o.key_id = k.id
    LEFT JOIN person p ON p.id = o.person_id AND p.disabled_at IS NULL
    LEFT JOIN member m ON m.account_id = account AND m.person_id = p.id
    WHERE k.id = key
$$;

-- The same, as it stays until the end of the transaction: changes of members lock the account.
CREATE OR REPLACE FUNCTION actor_lock(account uuid, key uuid) RETURNS TABLE (person_id uuid, role text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account a WHERE a.id = account FOR UPDATE;
    RETURN QUERY SELECT a.person_id, a.role FROM actor(account, key) a;
END $$;

-- Whether who acts with the key `actor_key` sees what is `person`'s in the account: a member their own, and an owner or admin all of it.
CREATE OR REPLACE FUNCTION is_shown(account uuid, actor_key uuid, person uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM actor(account, actor_key) a
                   WHERE a.role IN ('owner', 'admin') OR a.role IS NOT NULL AND a.person_id = person)
$$;
