-- Who was a member of an account and is none any more.

-- Marks by which a deleted person is recognised, without keeping who they were: the SHA-256 of an identity at a provider, and of an
-- address.
CREATE OR REPLACE FUNCTION former_identity_mark(issuer text, subject text) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN sha256(convert_to(jsonb_build_array(issuer, subject)::text, 'UTF8'));

CREATE OR REPLACE FUNCTION former_address_mark(address text) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN sha256(convert_to(lower(address), 'UTF8'));

-- A member is no former one, and a former one no member.
CREATE OR REPLACE FUNCTION member_ended() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO former_member (account_id, person_id, email, name)
    SELECT OLD.account_id, p.id, p.email, p.name FROM person p JOIN account a ON a.id = OLD.account_id WHERE p.id = OLD.person_id
    ON CONFLICT (account_id, person_id) DO UPDATE SET email = excluded.email, name = excluded.name, ended_at = now();
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER member_ended AFTER DELETE ON member FOR EACH ROW EXECUTE FUNCTION member_ended();

CREATE OR REPLACE FUNCTION member_began() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM former_member f WHERE f.account_id = NEW.account_id AND f.person_id = NEW.person_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER member_began AFTER INSERT ON member FOR EACH ROW EXECUTE FUNCTION member_began();

-- A deleted person is named nowhere any more, but known by marks where they were a member. An invitation that is open stays: it is the wish of
-- an account to have whoever has the address.
CREATE OR REPLACE FUNCTION person_forgotten() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM invitation i
    WHERE (i.accepted_at IS NOT NULL OR i.revoked_at IS NOT NULL OR i.expires_at <= now())
      AND lower(i.email) IN (SELECT lower(OLD.email)
                             UNION SELECT lower(d.email) FROM identity d WHERE d.person_id = OLD.id AND d.email IS NOT NULL);
    UPDATE former_member f
    SET email = NULL, name = NULL,
        marks = former_address_mark(OLD.email)
                || ARRAY(SELECT former_identity_mark(i.issuer, i.subject) FROM identity i WHERE i.person_id = OLD.id
                         UNION SELECT former_address_mark(i.email) FROM identity i WHERE i.person_id = OLD.id AND i.email IS NOT NULL)
    WHERE f.person_id = OLD.id;
    RETURN OLD;
END $$;

CREATE OR REPLACE TRIGGER person_forgotten BEFORE DELETE ON person FOR EACH ROW EXECUTE FUNCTION person_forgotten();

-- Whether a new person of an identity and an address is one who was a member of the account and then deleted.
CREATE OR REPLACE FUNCTION was_member(account uuid, issuer text, subject text, address text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM former_member f
                   WHERE f.account_id = account
                     AND f.marks && ARRAY[former_identity_mark(issuer, subject), former_address_mark(address)])
$$;
