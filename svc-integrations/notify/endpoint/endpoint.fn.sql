-- Endpoints: where the messages of an account go to.

-- How many deliveries wait for an endpoint. Its queue is bounded (endpoint_drop_oldest()).
CREATE OR REPLACE FUNCTION endpoint_waiting(endpoint uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT count(*) FROM delivery_queue q WHERE q.endpoint_id = endpoint
$$;

-- The last mail that asked for a confirmation, as the API shows it while the endpoint waits for one.
CREATE OR REPLACE FUNCTION email_confirmation_json(e endpoint) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT jsonb_build_object('requested_at', time_json(c.created_at), 'sent_at', time_json(c.sent_at), 'error', c.error,
                                      'expires_at', time_json(c.created_at + interval '1 day'))
            FROM email_confirmation c WHERE c.endpoint_id = e.id AND e.status = 'unconfirmed' ORDER BY c.created_at DESC LIMIT 1);
END $$;

-- An endpoint as the API shows it.
CREATE OR REPLACE FUNCTION endpoint_json(e endpoint) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', e.id, 'kind', e.kind, 'name', e.name, 'url', e.url, 'email', e.email, 'events', to_jsonb(e.events), 'repos', to_jsonb(e.repos),
        'interest_ids', to_jsonb(e.interest_ids), 'digest', digest_json(e.id), 'status', e.status, 'disabled_reason', e.disabled_reason,
        'person_id', e.person_id, 'confirmation', email_confirmation_json(e),
        'failing_since', time_json(e.failing_since), 'consecutive_failures', e.consecutive_failures,
        'last_success_at', time_json(e.last_success_at), 'waiting', endpoint_waiting(e.id), 'dropped', e.dropped, 'secret_hint', e.secret_hint,
        'old_secret_expires_at', CASE WHEN e.old_secret_expires_at > now() THEN time_json(e.old_secret_expires_at) END,
        'created_at', time_json(e.created_at), 'updated_at', time_json(e.updated_at))
$$;

-- The names that the repositories of these names have now, each once; null: all repositories.
CREATE OR REPLACE FUNCTION repositories_now(names text[]) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(name ORDER BY n)
    FROM (SELECT repository_now(given.name), min(given.n) FROM unnest(names) WITH ORDINALITY AS given (name, n) GROUP BY 1) AS known (name, n)
$$;

-- Notify svc-fleet, for the account's inbox, that an endpoint is disabled, or, with null, that it is not any more.
CREATE OR REPLACE FUNCTION endpoint_announce(e endpoint, reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.code_host', 'endpoint', e.account_id, jsonb_build_object(
        'endpoint_id', e.id, 'name', e.name, 'reason', reason, 'disabled_at', time_json(now())));
END $$;

-- Who gives an endpoint its address has their place in the account; raises endpoint_maker_gone otherwise: the gateway that took the
-- request had not heard of it.
CREATE OR REPLACE FUNCTION endpoint_require_maker(e endpoint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF connection_maker_is_gone(e.account_id, e.key_id, e.person_id, 0) THEN
        RAISE unique_violation USING MESSAGE = 'they have lost their place in the account', CONSTRAINT = 'endpoint_maker_gone';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION endpoint_maker_gone_reason() RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'who set it up is no member any more';

-- Disable the endpoints that a person has made or given their address, as the gateway tells of them (maker_is()): what they get
-- leaves the account. Somebody else sets them active who wants that. Those that wait for a confirmation go: disabled, nothing would say
-- that their address has not agreed.
CREATE OR REPLACE FUNCTION endpoints_of_maker_disable(account uuid, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    PERFORM account_lock(account, true); -- one that is being made is seen, or sees what connections_of_maker_end() has noted
    DELETE FROM endpoint x WHERE x.account_id = account AND x.status = 'unconfirmed' AND maker_is(told, x.key_id, x.person_id);
    FOR e IN SELECT * FROM endpoint x
             WHERE x.account_id = account AND x.status <> 'disabled' AND maker_is(told, x.key_id, x.person_id)
             ORDER BY x.id FOR NO KEY UPDATE
    LOOP
        PERFORM endpoint_disable(e, endpoint_maker_gone_reason());
    END LOOP;
END $$;

-- Make an endpoint of a body that was checked, with the sealed secret, and with who makes it; that of the kind email also has
-- `unsubscribe_hash`. The account may have `most`; violates endpoint_max, as endpoint_require_maker(), and as digest_set().
CREATE OR REPLACE FUNCTION endpoint_create(endpoint uuid, account uuid, given jsonb, sealed bytea, hint text, most int)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    made endpoint;
BEGIN
    PERFORM account_lock(account, true); -- nobody counts at the same time
    IF (SELECT count(*) FROM endpoint e WHERE e.account_id = account) >= most THEN
        RAISE unique_violation USING MESSAGE = 'the account has as many endpoints as it may', CONSTRAINT = 'endpoint_max';
    END IF;
    INSERT INTO endpoint (id, account_id, kind, name, url, email, unsubscribe_hash, secret, secret_hint, events, repos, interest_ids, status,
                          key_id, person_id)
    SELECT endpoint, account, n.kind, coalesce(n.name, substring(n.url FROM '^https?://([^/?#]+)'), left(n.email, 100)), n.url, n.email,
           n.unsubscribe_hash, sealed, hint, n.events, repositories_now(n.repos), n.interest_ids,
           CASE WHEN n.kind = 'email' THEN 'unconfirmed' ELSE 'active' END, n.key_id, n.person_id
    FROM jsonb_populate_record(NULL::endpoint, given) n
    RETURNING * INTO made;
    PERFORM endpoint_require_maker(made);
    INSERT INTO endpoint_lane (endpoint_id, is_retry, is_mail)
    VALUES (endpoint, false, made.kind = 'email'), (endpoint, true, made.kind = 'email');
    PERFORM digest_set(endpoint, given -> 'digest') WHERE given ? 'digest';
    RETURN endpoint_json(made);
END $$;

-- Let processes look into the lanes of an endpoint, whose row is locked, if something waits.
CREATE OR REPLACE FUNCTION endpoint_wake(e endpoint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE endpoint_lane l SET due_at = greatest(now(), e.not_before)
    WHERE l.endpoint_id = e.id AND NOT l.is_claimed AND e.status = 'active'
      AND EXISTS (SELECT FROM delivery_queue q WHERE q.endpoint_id = e.id);
END $$;

-- The newest delivery that waits for the endpoint; null: none does.
CREATE OR REPLACE FUNCTION endpoint_newest_waiting(endpoint uuid) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT q.delivery_id FROM delivery_queue q WHERE q.endpoint_id = endpoint ORDER BY q.delivery_id DESC LIMIT 1);
END $$;

-- Change an endpoint by a body that was checked; null: there is none. The body also has the sealed address of a Slack endpoint; with a
-- new address of the kind email, its sealed token and `unsubscribe_hash`. `active` and another address clear failures, and what waits goes
-- out. The body has who changes it, too: they are noted with another address, and when they set one active whose maker is gone.
-- Violates endpoint_unconfirmed: only a confirmation makes the endpoint active; endpoint_status: the service sets that one; as
-- endpoint_require_maker(); and as digest_set().
CREATE OR REPLACE FUNCTION endpoint_update(endpoint uuid, account uuid, given jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
    was endpoint;
BEGIN
    SELECT * INTO e FROM endpoint k WHERE k.id = endpoint AND k.account_id = account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    was := e;
    IF given ->> 'status' = e.status AND e.status IN ('disabled', 'unconfirmed') THEN -- as it was read
        given := given - 'status';
    ELSIF given ->> 'status' IN ('disabled', 'unconfirmed') THEN
        RAISE check_violation USING MESSAGE = 'the service sets this status', CONSTRAINT = 'endpoint_status';
    END IF;
    IF given ? 'status' AND NOT given ? 'unsubscribe_hash' AND (e.status = 'unconfirmed' OR e.disabled_reason = 'unsubscribed') THEN
        RAISE unique_violation USING MESSAGE = 'the address is not confirmed', CONSTRAINT = 'endpoint_unconfirmed';
    END IF;
    IF e.status = 'disabled' AND (given ? 'status' OR given ? 'unsubscribe_hash') THEN
        PERFORM endpoint_announce(e, NULL);
    END IF;
    e := jsonb_populate_record(e, given);
    e.repos := repositories_now(e.repos);
    IF given ? 'unsubscribe_hash' THEN
        e.status := 'unconfirmed';
    END IF;
    IF given ->> 'status' = 'active' OR (e.url, e.email, e.secret) IS DISTINCT FROM (was.url, was.email, was.secret) THEN
        e.failing_since := NULL;
        e.consecutive_failures := 0;
        e.refused_days := NULL;
        e.refused_on := NULL;
        e.not_before := '-infinity';
        e.catch_up_to := endpoint_newest_waiting(e.id);
    END IF;
    IF (e.url, e.email, e.secret) IS DISTINCT FROM (was.url, was.email, was.secret)
       OR given ->> 'status' = 'active' AND was.disabled_reason = endpoint_maker_gone_reason() THEN
        PERFORM endpoint_require_maker(e);
    ELSE
        e.key_id := was.key_id;
        e.person_id := was.person_id;
    END IF;
    UPDATE endpoint k SET name = e.name, url = e.url, email = e.email, unsubscribe_hash = e.unsubscribe_hash, refused_days = e.refused_days,
        refused_on = e.refused_on, secret = e.secret, secret_hint = e.secret_hint, events = e.events, repos = e.repos, interest_ids = e.interest_ids, status = e.status,
        disabled_reason = CASE WHEN e.status = 'disabled' THEN e.disabled_reason END,
        failing_since = e.failing_since, consecutive_failures = e.consecutive_failures, not_before = e.not_before,
        catch_up_to = e.catch_up_to, key_id = e.key_id, person_id = e.person_id, updated_at = now()
    WHERE k.id = e.id RETURNING * INTO e;
    PERFORM endpoint_wake(e);
    PERFORM digest_set(endpoint, given -> 'digest') WHERE given ? 'digest';
    RETURN endpoint_json(e);
END $$;

-- Give an endpoint a new secret; the one before also signs for so many seconds. No row: there is no such endpoint. A null `changed`:
-- its old secret still signs, and `is_forced` is not set. Violates endpoint_without_secret: it is of another kind.
CREATE OR REPLACE FUNCTION endpoint_rotate(endpoint uuid, account uuid, sealed bytea, hint text, old_valid_s int, is_forced boolean)
RETURNS TABLE (changed jsonb) LANGUAGE plpgsql AS $$
DECLARE
    e endpoint;
BEGIN
    SELECT * INTO e FROM endpoint k WHERE k.id = endpoint AND k.account_id = account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF e.kind <> 'webhook' THEN
        RAISE unique_violation USING MESSAGE = 'endpoints of this kind have no secret', CONSTRAINT = 'endpoint_without_secret';
    END IF;
    IF e.old_secret_expires_at > now() AND NOT is_forced THEN
        RETURN QUERY SELECT NULL::jsonb;
        RETURN;
    END IF;
    UPDATE endpoint k SET secret = sealed, secret_hint = hint, old_secret = CASE WHEN old_valid_s > 0 THEN k.secret END,
        old_secret_expires_at = CASE WHEN old_valid_s > 0 THEN now() + make_interval(secs => old_valid_s) END, updated_at = now()
    WHERE k.id = e.id RETURNING * INTO e;
    RETURN QUERY SELECT jsonb_build_object('old_secret_expires_at', time_json(e.old_secret_expires_at));
END $$;
