-- Links to identities at other platforms: each claim is verified as long as the account's active connection names it.

-- A link as the API shows it.
CREATE OR REPLACE FUNCTION identity_link_json(l identity_link) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', l.id, 'user_id', l.account_id, 'person_id', l.person_id, 'source', l.source, 'external_id', l.external_id,
        'external_email', l.external_email, 'external_login', l.external_login, 'created_at', time_json(l.created_at),
        'status', CASE WHEN l.id_verified OR l.email_verified THEN 'verified' ELSE 'unverified' END,
        'verified', to_jsonb(array_remove(ARRAY[CASE WHEN l.id_verified THEN 'external_id' END,
                                                CASE WHEN l.email_verified THEN 'external_email' END], NULL)))
$$;

-- Remove the claims of other accounts that a verified link of the account has won. A link whose id is verified loses its email only.
CREATE OR REPLACE FUNCTION identity_links_yield(account uuid, of_source text) RETURNS void LANGUAGE sql VOLATILE AS $$
    DELETE FROM identity_link o USING identity_link l
    WHERE l.account_id = account AND l.source = of_source AND o.source = of_source AND o.account_id <> account AND NOT o.id_verified
      AND (l.id_verified AND o.external_id = l.external_id
           OR l.email_verified AND NOT o.email_verified AND lower(o.external_email) = lower(l.external_email));
    UPDATE identity_link o SET external_email = NULL FROM identity_link l
    WHERE l.account_id = account AND l.source = of_source AND o.source = of_source AND o.account_id <> account
      AND l.email_verified AND NOT o.email_verified AND lower(o.external_email) = lower(l.external_email);
$$;

-- Verify the claims of the account's links to a source by its connection as it is now. What another account has verified stays its.
CREATE OR REPLACE FUNCTION identity_links_prove(account uuid, of_source text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE identity_order IN EXCLUSIVE MODE;
    UPDATE identity_link l SET
        id_verified = EXISTS (
                SELECT FROM connection c
                WHERE c.account_id = account AND c.provider = of_source AND c.status = 'active' AND c.external_id = l.external_id)
            AND NOT EXISTS (
                SELECT FROM identity_link o
                WHERE o.source = of_source AND o.external_id = l.external_id AND o.id_verified AND o.account_id <> account),
        email_verified = EXISTS (
                SELECT FROM connection c
                WHERE c.account_id = account AND c.provider = of_source AND c.status = 'active' AND c.external_email_verified
                  AND lower(c.external_email) = lower(l.external_email))
            AND NOT EXISTS (
                SELECT FROM identity_link o
                WHERE o.source = of_source AND lower(o.external_email) = lower(l.external_email) AND o.email_verified
                  AND o.account_id <> account)
    WHERE l.account_id = account AND l.source = of_source;
    PERFORM identity_links_yield(account, of_source);
END $$;

-- A connection that comes, changes or goes verifies other claims.
CREATE OR REPLACE FUNCTION connection_proves() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    c connection := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    PERFORM identity_links_prove(c.account_id, c.provider);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER connection_proves AFTER INSERT OR DELETE ON connection FOR EACH ROW EXECUTE FUNCTION connection_proves();
CREATE OR REPLACE TRIGGER connection_proves_anew AFTER UPDATE ON connection FOR EACH ROW
    WHEN ((OLD.status, OLD.external_id, OLD.external_email, OLD.external_email_verified)
          IS DISTINCT FROM (NEW.status, NEW.external_id, NEW.external_email, NEW.external_email_verified))
    EXECUTE FUNCTION connection_proves();

-- Raise a violation of identity_link_id or identity_link_email when a claim of the link is not verified, and another account's
-- connection or verified link proves it.
CREATE OR REPLACE FUNCTION identity_link_require_free(l identity_link) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT l.id_verified AND (
        EXISTS (SELECT FROM identity_link o WHERE o.source = l.source AND o.external_id = l.external_id AND o.id_verified)
        OR EXISTS (SELECT FROM connection c
                   WHERE c.provider = l.source AND c.external_id = l.external_id AND c.status = 'active'
                     AND c.account_id <> l.account_id)) THEN
        RAISE unique_violation USING MESSAGE = 'the id is that of another account', CONSTRAINT = 'identity_link_id';
    END IF;
    IF NOT l.email_verified AND (
        EXISTS (SELECT FROM identity_link o
                WHERE o.source = l.source AND lower(o.external_email) = lower(l.external_email) AND o.email_verified)
        OR EXISTS (SELECT FROM connection c
                   WHERE c.provider = l.source AND lower(c.external_email) = lower(l.external_email) AND c.external_email_verified
                     AND c.status = 'active' AND c.account_id <> l.account_id)) THEN
        RAISE unique_violation USING MESSAGE = 'the email is that of another account', CONSTRAINT = 'identity_link_email';
    END IF;
END $$;

-- Link an identity (JSON: the body of the request, with the person who asks) to the account, which may have `most` links; is_new: false: it is linked already.
-- Violates identity_link_id, identity_link_email, identity_link_own_email or identity_link_max.
CREATE OR REPLACE FUNCTION identity_link_create(account uuid, body jsonb, most int, OUT link jsonb, OUT is_new boolean) LANGUAGE plpgsql AS $$
DECLARE
    l identity_link;
BEGIN
    INSERT INTO identity_link AS made (account_id, source, external_id, external_email, external_login, person_id)
    SELECT account, b.source, b.external_id, b.external_email, b.external_login, b.person_id
    FROM jsonb_to_record(body) AS b (source text, external_id text, external_email text, external_login text, person_id uuid)
    ON CONFLICT (account_id, source, external_id) DO NOTHING
    RETURNING made.* INTO l;
    is_new := FOUND;
    IF is_new THEN
        PERFORM identity_links_prove(account, l.source);
        SELECT * INTO l FROM identity_link k WHERE k.id = l.id;
        PERFORM identity_link_require_free(l);
        IF (SELECT count(*) FROM identity_link k WHERE k.account_id = account) > most THEN
            RAISE unique_violation USING MESSAGE = 'the account has as many links as it may', CONSTRAINT = 'identity_link_max';
        END IF;
    ELSE
        SELECT * INTO l FROM identity_link k
        WHERE k.account_id = account AND k.source = body ->> 'source' AND k.external_id = body ->> 'external_id';
    END IF;
    link := identity_link_json(l);
END $$;
