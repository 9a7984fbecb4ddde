-- name: reservation_about(account, repository, interest) (read)
-- Returns the interest of a start there, whether a budget is about it, and the agent and provider of the installation that it is
-- for. :interest may be NULL.
SELECT coalesce(:interest::text, i.interest_id::text) AS interest_id, i.agent, i.provider,
       EXISTS (
           SELECT FROM budget b
           WHERE b.account_id = :account
             AND budget_has(b, repository_key(:repository), coalesce(:interest::text, i.interest_id::text))) AS has_budget
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT * FROM installation x
    WHERE x.account_id = :account AND x.repo_key = repository_key(:repository)
    ORDER BY x.interest_id = (:interest::text)::uuid DESC NULLS LAST, x.status = 'active' DESC, x.installed_at DESC
    LIMIT 1) i ON true;

-- name: run_reserve(account, asked, interest, agent, provider, obeys_max_usd)
-- :asked is the question, :obeys_max_usd whether the agent obeys MAX_USD. :interest, :agent and :provider may be NULL.
SELECT run_reserve(:account, :asked::jsonb || jsonb_build_object(
    'interest_id', :interest::uuid, 'agent', :agent::text, 'provider', :provider::text,
    'obeys_max_usd', :obeys_max_usd::boolean, 'is_agent_named', :asked::jsonb ->> 'agent' IS NOT NULL));

-- name: run_admit(account, asked, interest, agent, provider, obeys_max_usd)
-- As run_reserve, of a run that asks.
SELECT run_admit(:account, :asked::jsonb || jsonb_build_object(
    'interest_id', :interest::uuid, 'agent', :agent::text, 'provider', :provider::text,
    'obeys_max_usd', :obeys_max_usd::boolean,
    'limits', jsonb_build_object('repo', :asked::jsonb -> 'repo', 'interest_id', :interest)));

-- name: reservation_attach(account, start_key, run)
-- :run is its id as JSON.
SELECT reservation_attach(:account, :start_key, :run);

-- name: reservation_release(account, start_key)
SELECT reservation_release(:account, :start_key);

-- name: reservation_next(after) (read)
-- Returns the next reservations behind the reservation :after that are due.
SELECT r.id FROM reservation r
WHERE r.state = 'held' AND r.expires_at <= now() AND r.id > :after
ORDER BY r.id LIMIT 100;

-- name: reservation_expire_due(reservation)
-- Returns whether it was due, and why it could not expire, or NULL.
SELECT is_done, fault FROM reservation_expire_due(:reservation);

-- name: reservation_leave_out(reservation)
SELECT reservation_leave_out(:reservation);
