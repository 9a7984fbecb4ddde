-- Who made a connection, and the end of their connections with their place in the account.

-- Notify svc-fleet, for the account's inbox, that a connection has ended with the place of who made it, or, with null, that there is one
-- again.
CREATE OR REPLACE FUNCTION connection_announce(c connection, person uuid, gone_at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.code_host', 'connection', c.account_id, jsonb_build_object(
        'provider', c.provider, 'login', c.external_login, 'person_id', person, 'gone_at', time_json(gone_at)));
END $$;

-- Whether who connects with a key has lost their place in the account since they began, so many milliseconds ago. Five seconds more are
-- looked at, since the gateway accepts a key for a second longer. Null: not asked. Who loses it from now on waits for the transaction.
CREATE OR REPLACE FUNCTION connection_maker_is_gone(account uuid, key uuid, person uuid, age_ms bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF age_ms IS NULL OR NOT account_share(account) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (SELECT FROM connection_maker_gone g
                   WHERE g.account_id = account AND (g.person_id = person OR key = ANY (g.key_ids))
                     AND g.gone_at > clock_timestamp() - make_interval(secs => age_ms / 1000.0 + 5));
END $$;

-- Whether a person has made what was made with a key, of which the gateway tells: {"person_id", "key_ids", "is_founder"}. The founder has
-- made that of which it is not noted who did.
CREATE OR REPLACE FUNCTION maker_is(told jsonb, key uuid, person uuid) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(person = (told ->> 'person_id')::uuid, false) OR coalesce(told -> 'key_ids' ? key::text, (told ->> 'is_founder')::boolean)
$$;

-- End the connections to `providers`, a JSON array, that a person has made, as the gateway tells of them (maker_is()). Tokens are revoked by a
-- task (connection_remove()).
CREATE OR REPLACE FUNCTION connections_of_maker_end(account uuid, told jsonb, providers jsonb, web_url text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    person uuid := told ->> 'person_id';
    keys uuid[] := ARRAY(SELECT jsonb_array_elements_text(told -> 'key_ids')::uuid);
    c connection;
BEGIN
    PERFORM account_lock(account, true); -- a connection that is being made is seen, or sees what is noted here
    DELETE FROM connection_maker_gone g WHERE g.gone_at < now() - interval '1 hour';
    INSERT INTO connection_maker_gone (account_id, person_id, key_ids) VALUES (account, person, keys)
    ON CONFLICT (account_id, person_id) DO UPDATE SET key_ids = excluded.key_ids, gone_at = clock_timestamp();
    FOR c IN SELECT * FROM connection x
             WHERE x.account_id = account AND providers ? x.provider AND maker_is(told, x.key_id, x.person_id)
             ORDER BY x.provider
    LOOP
        PERFORM connection_remove(account, c.provider);
        PERFORM connection_announce(c, person, clock_timestamp());
        PERFORM access_lost_announce(account, NULL, web_url) WHERE c.provider = 'code_host';
    END LOOP;
END $$;
