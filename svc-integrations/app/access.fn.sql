-- Notify the other services once that an account has lost access: to a repository, or to all where `repo` is null. The event has every
-- member that deliveries give to the events of its stream (webhook/code_host_event.h).
CREATE OR REPLACE FUNCTION access_lost_announce(account uuid, repo text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF repo IS NOT NULL THEN
        INSERT INTO access_lost (account_id, repo) VALUES (account, lower(access_lost_announce.repo)) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM event_emit('events.code_host', 'access', account, jsonb_build_object(
        'event', 'access', 'action', 'lost', 'repo', repo, 'web_url', web_url, 'occurred_at', time_json(clock_timestamp()),
        'installation_id', NULL, 'delivery_id', NULL));
END $$;
