-- What processes of the previous release call while they are replaced, under other names or with fewer parameters. To be dropped in the
-- next release.

-- It takes no names of repositories.
CREATE OR REPLACE FUNCTION delivery_take(
    delivery text, secret int, event text, action text, repo text, installation bigint, body bytea, ignored text,
    events jsonb, is_installation_changed boolean, changed_repos jsonb,
    OUT status text, OUT reason text, OUT is_new boolean
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT t.status, t.reason, t.is_new INTO status, reason, is_new
    FROM delivery_take(delivery, secret, event, action, repo, installation, body, ignored, events, is_installation_changed,
                       changed_repos, '[]', NULL) AS t;
END $$;

CREATE OR REPLACE FUNCTION delivery_replay(
    delivery text, action text, repo text, installation bigint, ignored text, events jsonb, is_installation_changed boolean,
    changed_repos jsonb
) RETURNS TABLE (sent bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT x.sent FROM delivery_replay($1, $2, $3, $4, $5, $6, $7, $8, '[]', NULL) AS x;
END $$;
