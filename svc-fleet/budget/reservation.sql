-- name: reservation_about (read)
-- $1 account, $2 repository, $3 interest or NULL. The interest of a start there, whether a budget is about it, and the agent and
-- provider of the installation that it is for.
SELECT coalesce($3::text, i.interest_id::text) AS interest_id, i.agent, i.provider, EXISTS (
    SELECT FROM budget b
    WHERE b.account_id = $1 AND budget_has(b, repository_key($2), coalesce($3::text, i.interest_id::text))) AS has_budget
FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT * FROM installation x WHERE x.account_id = $1 AND x.repo_key = repository_key($2)
    ORDER BY x.interest_id = ($3::text)::uuid DESC NULLS LAST, x.status = 'active' DESC, x.installed_at DESC LIMIT 1) i ON true;

-- name: run_reserve
-- $1 account, $2 what is asked, $3 interest, $4 agent and $5 provider, or NULL, $6 whether the agent obeys MAX_USD.
SELECT run_reserve($1, $2::jsonb || jsonb_build_object('interest_id', $3::uuid, 'agent', $4::text, 'provider', $5::text,
                                                       'obeys_max_usd', $6::boolean));

-- name: run_admit
-- As run_reserve, of a run that asks.
SELECT run_admit($1, $2::jsonb || jsonb_build_object('interest_id', $3::uuid, 'agent', $4::text, 'provider', $5::text,
                                                     'obeys_max_usd', $6::boolean,
                                                     'limits', jsonb_build_object('repo', $2::jsonb -> 'repo', 'interest_id', $3)));

-- name: reservation_attach
-- $1 account, $2 key of the start, $3 run, JSON.
SELECT reservation_attach($1, $2, $3);

-- name: reservation_release
-- $1 account, $2 key of the start.
SELECT reservation_release($1, $2);

-- name: reservation_next (read)
-- $1 reservation. The next ones that are due.
SELECT r.id FROM reservation r WHERE r.state = 'held' AND r.expires_at <= now() AND r.id > $1 ORDER BY r.id LIMIT 100;

-- name: reservation_expire_due
-- $1 reservation. Whether it was due, and why it could not expire, or NULL.
SELECT is_done, fault FROM reservation_expire_due($1);

-- name: reservation_leave_out
-- $1 reservation.
SELECT reservation_leave_out($1);
