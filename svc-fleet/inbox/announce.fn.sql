-- Notifying the account of each new item of its inbox, once. Items are made by rules and by time, not by writing them, so an account's
-- inbox is looked at when something may have made one (inbox_look).

-- When an item is worth a message: a pull request or issue that waits is shown at once, and announced after three days; the others are
-- announced when they are there.
CREATE OR REPLACE FUNCTION inbox_due_at(kind text, created_at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE kind WHEN 'pull_request_waiting' THEN created_at + interval '72 hours'
                 WHEN 'issue_waiting' THEN created_at + interval '72 hours'
                 WHEN 'agent_silent' THEN created_at + interval '168 hours'
                 ELSE least(created_at, now()) END; -- clocks differ

-- Queue a check of these inboxes, at the latest at these times, and not before now: inbox_announce() in announce.c leaves what is queued
-- meanwhile to its next pass.
CREATE OR REPLACE FUNCTION inbox_mark(looks inbox_look[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF cardinality(looks) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO inbox_look AS l SELECT x.account_id, greatest(min(x.look_at), clock_timestamp()) FROM unnest(looks) x GROUP BY 1 ORDER BY 1
    ON CONFLICT (account_id) DO UPDATE SET look_at = excluded.look_at WHERE l.look_at > excluded.look_at;
END $$;

CREATE OR REPLACE FUNCTION inbox_mark(account uuid, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM inbox_mark(ARRAY[(account, at)::inbox_look]);
END $$;

-- When time alone makes the account's next item, or an agent that is silent may have run again; null: never.
CREATE OR REPLACE FUNCTION inbox_next_at(account uuid) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT min(x.due_at) FROM (
        SELECT inbox_due_at(d.kind || '_waiting', d.opened_at) FROM deliverable d
        WHERE d.account_id = account AND d.stage = 'open' AND d.kind <> 'other' AND d.opened_at > now() - interval '72 hours'
        UNION ALL
        SELECT r.due_at FROM experiment_reminder r WHERE r.account_id = account AND r.due_at > now()
        UNION ALL
        SELECT k.expires_at FROM key_expiring k WHERE k.account_id = account AND k.expires_at > now()
        UNION ALL
        SELECT CASE WHEN silent_at > now() THEN silent_at ELSE now() + interval '24 hours' END
        FROM installation i, inbox_due_at('agent_silent', coalesce(last_run_at(account, i.repo_key), i.installed_at)) AS silent_at
        WHERE i.account_id = account AND i.status = 'active') AS x (due_at)
$$;

-- Announce the items of an account that have become due in the last seven days and were not announced yet, and note when to look again,
-- unless somebody has asked for an earlier look since it was `claimed`. Older items are no news: after an upgrade, or when a report
-- comes late. An item can come back, such as an agent that is silent once more, but not within seven days.
CREATE OR REPLACE FUNCTION inbox_announce(account uuid, claimed timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    announced bigint;
BEGIN
    DELETE FROM inbox_told t WHERE t.account_id = account AND t.told_at < now() - interval '168 hours';
    DELETE FROM key_expiring k WHERE k.account_id = account AND k.expires_at < now() AND NOT key_is_of_agent(account, k.key_id);
    PERFORM inbox_forget_over(account);
    WITH item AS (
        SELECT * FROM inbox_items(account, NULL, false) i
        WHERE inbox_due_at(i.kind, i.created_at) BETWEEN now() - interval '168 hours' AND now()
    ), new AS (
        INSERT INTO inbox_told AS t (account_id, item) SELECT account, i.id FROM item i ON CONFLICT DO NOTHING RETURNING t.item
    )
    SELECT count(message_emit('events.runs', 'inbox.item', account, jsonb_build_object(
        'id', i.id, 'kind', i.kind, 'repo', i.repo, 'title', i.title, 'href', i.href, 'severity', i.severity, 'url', '/console/inbox')))
    INTO announced FROM item i JOIN new ON new.item = i.id;
    UPDATE inbox_look l SET look_at = n.at FROM inbox_next_at(account) AS n (at)
    WHERE l.account_id = account AND l.look_at = claimed AND n.at IS NOT NULL;
    IF NOT FOUND THEN
        DELETE FROM inbox_look l WHERE l.account_id = account AND l.look_at = claimed;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION repo_access_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM inbox_mark(NEW.account_id, clock_timestamp());
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER repo_access_lost AFTER INSERT OR UPDATE OF lost_at ON repo_access FOR EACH ROW
WHEN (NEW.lost_at IS NOT NULL) EXECUTE FUNCTION repo_access_announce();

-- The gateway announces that a key expires soon; of one that was replaced or revoked nothing is left (installation.sql).
CREATE OR REPLACE FUNCTION key_expiring_note(account uuid, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO key_expiring (account_id, key_id, name, repo, expires_at)
    SELECT account, k.key_id, k.name, k.repo, k.expires_at FROM jsonb_populate_record(NULL::key_expiring, told) k
    ON CONFLICT (account_id, key_id) DO UPDATE SET expires_at = excluded.expires_at;
    PERFORM inbox_mark(account, clock_timestamp());
END $$;

-- svc-integrations announces that an endpoint of messages was disabled, or, without a reason, that it is enabled again or gone.
CREATE OR REPLACE FUNCTION endpoint_disabled_note(account uuid, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e endpoint_disabled := jsonb_populate_record(NULL::endpoint_disabled, told);
BEGIN
    DELETE FROM endpoint_disabled d WHERE d.account_id = account AND d.endpoint_id = e.endpoint_id;
    IF e.reason IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO endpoint_disabled (account_id, endpoint_id, name, reason, disabled_at)
    VALUES (account, e.endpoint_id, e.name, e.reason, e.disabled_at);
    PERFORM inbox_mark(account, clock_timestamp());
END $$;

-- svc-integrations announces that a connection has ended with the place of who made it, or, without a time, that there is one again.
CREATE OR REPLACE FUNCTION connection_gone_note(account uuid, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c connection_gone := jsonb_populate_record(NULL::connection_gone, told);
BEGIN
    DELETE FROM connection_gone g WHERE g.account_id = account AND g.provider = c.provider;
    IF c.gone_at IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO connection_gone (account_id, provider, login, person_id, gone_at)
    VALUES (account, c.provider, c.login, c.person_id, c.gone_at);
    PERFORM inbox_mark(account, clock_timestamp());
END $$;
