-- The numbers of the repositories that are known of the account, by its access or its login, and of no other account.
CREATE OR REPLACE FUNCTION account_repositories(account uuid) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT r.number FROM repository r
        WHERE (EXISTS (SELECT FROM repository_access a WHERE a.account_id = account AND a.repository_id = r.number)
               OR EXISTS (SELECT FROM connection c WHERE c.account_id = account AND c.provider = 'code_host'
                                                     AND lower(c.external_login) = lower(split_part(r.name, '/', 1))))
          AND NOT EXISTS (SELECT FROM repository_access a WHERE a.account_id <> account AND a.repository_id = r.number)
        ORDER BY 1);
END $$;

-- What the code host reported of the repositories of an account goes with it: it is asked again when another account needs that. So do
-- events of repositories that are known of no other account, once they are sent.
CREATE OR REPLACE FUNCTION account_repositories_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    forgotten bigint[] := account_repositories(account);
    repos text[] := ARRAY(SELECT a.repo FROM repository_access a WHERE a.account_id = account
                          UNION SELECT lower(d.repo) FROM dispatch d WHERE d.account_id = account
                          UNION SELECT lower(r.name) FROM repository r WHERE r.number = ANY (forgotten)
                          UNION SELECT f.name FROM repository_former f WHERE f.number = ANY (forgotten));
BEGIN
    PERFORM repository_forgotten(n), event_send(uuid_v7(), 'events.code_host', 'repository_name', 'repository names', NULL,
        jsonb_build_object('event', 'repository_name', 'action', 'forgotten', 'repository_id', n, 'repo', NULL, 'former', NULL,
                           'occurred_at', time_json(now()), 'installation_id', NULL, 'delivery_id', NULL))
    FROM unnest(forgotten) AS n;
    DELETE FROM installation i
    WHERE i.repo = ANY (repos) OR lower(i.full_name) = ANY (repos)
       OR i.owner_login IN (SELECT c.external_login FROM connection c WHERE c.account_id = account AND c.provider = 'code_host');
    DELETE FROM installation_absence a WHERE a.repo = ANY (repos);
    DELETE FROM outbox o
    WHERE o.account_id IS NULL AND o.sent_at IS NOT NULL AND lower(o.data ->> 'repo') = ANY (repos)
      AND NOT EXISTS (SELECT FROM repository_access a WHERE a.account_id <> account AND a.repo = lower(o.data ->> 'repo'));
END $$;

-- Everything that an account had; a note stays. What may be long comes first: for what repositories and connections lock, other accounts wait.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    PERFORM messages_forget(account);
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
    DELETE FROM connection_maker_gone WHERE account_id = account;
    DELETE FROM authorization_attempt WHERE account_id = account;
    DELETE FROM landing_state WHERE account_id = account;
    DELETE FROM access_lost WHERE account_id = account;
    DELETE FROM installation_lookup WHERE account_id = account;
    PERFORM account_repositories_forget(account);
    PERFORM connection_remove(account);
    DELETE FROM identity_link WHERE account_id = account;
    DELETE FROM repository_access WHERE account_id = account;
    DELETE FROM dispatch WHERE account_id = account;
END $$;
