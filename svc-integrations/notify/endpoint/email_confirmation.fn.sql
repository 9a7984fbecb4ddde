-- Addresses of endpoints of the kind email: confirming them, and ending the mails. And how many mails an account is sent.

-- Count a mail of today. False: it is none, because the account has had the 1,000 of the day.
CREATE OR REPLACE FUNCTION email_take(account uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO email_day AS d (account_id, day, sent) VALUES (account, (now() AT TIME ZONE 'UTC')::date, 1)
    ON CONFLICT (account_id, day) DO UPDATE SET sent = d.sent + 1 WHERE d.sent < 1000;
    RETURN FOUND;
END $$;

-- When the next day of email_take() begins.
CREATE OR REPLACE FUNCTION email_next_day() RETURNS timestamptz LANGUAGE sql STABLE
RETURN (date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC';

-- An address as email_asked has it: it outlives the accounts that asked, so it is not to be read there.
CREATE OR REPLACE FUNCTION email_asked_key(address text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN encode(sha256(convert_to(lower(address), 'UTF8')), 'hex');

-- Count that an address is asked now. False: it is not, because it was asked three times within a day.
CREATE OR REPLACE FUNCTION email_ask(address text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz := now() - interval '1 day';
BEGIN
    INSERT INTO email_asked AS k (email, asked_at) VALUES (email_asked_key(address), ARRAY[now()])
    ON CONFLICT (email) DO UPDATE SET asked_at = ARRAY(SELECT t FROM unnest(k.asked_at) t WHERE t > since) || now()
    WHERE (SELECT count(*) FROM unnest(k.asked_at) t WHERE t > since) < 3;
    RETURN FOUND;
END $$;

-- What email_ask() has counted last did not come to be.
CREATE OR REPLACE FUNCTION email_unask(address text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM email_asked WHERE email = email_asked_key(address) AND cardinality(asked_at) = 1;
    UPDATE email_asked SET asked_at = trim_array(asked_at, 1) WHERE email = email_asked_key(address);
END $$;

-- Ask the address of an endpoint by a mail with a new token, which a task sends. It is unconfirmed, or its owner has unsubscribed. The
-- endpoint as it is then; null: there is none. Violates email_confirmed, and email_confirmation_max: the address was asked three times
-- within a day, or the account has asked twenty times.
CREATE OR REPLACE FUNCTION email_confirmation_request(endpoint uuid, account uuid, confirmation uuid, sealed bytea, token_hash bytea)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    PERFORM account_lock(account, true);
    SELECT * INTO e FROM endpoint k WHERE k.id = endpoint AND k.account_id = account AND k.kind = 'email' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF e.status <> 'unconfirmed' AND e.disabled_reason IS DISTINCT FROM 'unsubscribed' THEN
        RAISE unique_violation USING MESSAGE = 'the address is confirmed', CONSTRAINT = 'email_confirmed';
    END IF;
    IF (SELECT count(*) FROM email_confirmation c WHERE c.account_id = account AND c.created_at > now() - interval '1 day') >= 20
       OR NOT email_ask(e.email) THEN
        RAISE unique_violation USING MESSAGE = 'too many confirmations were asked for', CONSTRAINT = 'email_confirmation_max';
    END IF;
    IF e.status = 'disabled' THEN
        PERFORM endpoint_announce(e, NULL);
    END IF;
    UPDATE endpoint k SET status = 'unconfirmed', disabled_reason = NULL, updated_at = now() WHERE k.id = e.id RETURNING * INTO e;
    INSERT INTO email_confirmation (id, account_id, endpoint_id, email, token, hash)
    VALUES (confirmation, account, e.id, e.email, sealed, token_hash);
    PERFORM task_start('confirm_email', account, jsonb_build_object('confirmation_id', confirmation));
    RETURN endpoint_json(e);
END $$;

-- Make an endpoint of the kind email, as endpoint_create(), and ask its address.
CREATE OR REPLACE FUNCTION endpoint_create_email(endpoint uuid, account uuid, given jsonb, sealed bytea, most int, confirmation uuid,
                                                 confirmation_sealed bytea, confirmation_hash bytea) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM endpoint_create(endpoint, account, given, sealed, NULL, most);
    RETURN email_confirmation_request(endpoint, account, confirmation, confirmation_sealed, confirmation_hash);
END $$;

-- Change an endpoint of the kind email, as endpoint_update(), by a body with another address, its sealed token and the token's hash, and
-- ask this address. Null: there is none.
CREATE OR REPLACE FUNCTION endpoint_readdress(endpoint uuid, account uuid, given jsonb, confirmation uuid, confirmation_sealed bytea,
                                              confirmation_hash bytea) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    PERFORM endpoint_update(endpoint, account, given);
    RETURN email_confirmation_request(endpoint, account, confirmation, confirmation_sealed, confirmation_hash);
END $$;

-- The endpoint whose address a token confirms, or has confirmed, locked. Null: the token is too old, the endpoint has another address,
-- or this one has unsubscribed since.
CREATE OR REPLACE FUNCTION email_confirmation_endpoint(c email_confirmation) RETURNS endpoint LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    IF c.created_at > now() - interval '1 day' THEN
        SELECT * INTO e FROM endpoint k
        WHERE k.id = c.endpoint_id AND k.account_id = c.account_id AND k.email = c.email
          AND (k.status IN ('active', 'paused') OR k.status = 'unconfirmed' AND c.used_at IS NULL)
        FOR NO KEY UPDATE;
    END IF;
    RETURN e;
END $$;

-- Begin to send messages to the address that a token confirms, with those that wait; the address. What is confirmed stays as it is. Null:
-- it confirms none.
CREATE OR REPLACE FUNCTION email_confirm(token_hash bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    c email_confirmation;
    e endpoint;
BEGIN
    SELECT * INTO c FROM email_confirmation k WHERE k.hash = token_hash;
    e := email_confirmation_endpoint(c);
    IF e.status = 'unconfirmed' THEN
        UPDATE endpoint k SET status = 'active', refused_days = NULL, refused_on = NULL, updated_at = now()
        WHERE k.id = e.id RETURNING * INTO e;
        PERFORM endpoint_wake(e);
    END IF;
    UPDATE email_confirmation k SET used_at = coalesce(k.used_at, now()) WHERE k.id = c.id AND e.id IS NOT NULL;
    RETURN e.email;
END $$;

-- End the mails to the address whose token it is; the address. Null: it is nobody's.
CREATE OR REPLACE FUNCTION email_unsubscribe(token_hash bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    SELECT * INTO e FROM endpoint k WHERE k.unsubscribe_hash = token_hash FOR NO KEY UPDATE;
    IF e.disabled_reason IS DISTINCT FROM 'unsubscribed' AND e.id IS NOT NULL THEN
        PERFORM endpoint_disable(e, 'unsubscribed');
    END IF;
    RETURN e.email;
END $$;

-- Forget what is not counted any more.
CREATE OR REPLACE FUNCTION email_days_keep() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM email_confirmation WHERE created_at < now() - interval '2 days';
    DELETE FROM email_asked WHERE asked_at[cardinality(asked_at)] < now() - interval '1 day';
    DELETE FROM email_day WHERE day < (now() AT TIME ZONE 'UTC')::date;
END $$;
