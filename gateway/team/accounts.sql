-- name: accounts_list (read)
-- $1 account, $2 the key that asks, $3 limit, $4 offset: the accounts of its person, or its own. The oldest first.
WITH mine AS MATERIALIZED (
    SELECT a.id, a.created_at FROM account a
    WHERE a.id = $1 OR a.id IN (SELECT m.account_id FROM member m WHERE m.person_id = acting_person($2))
)
SELECT (SELECT coalesce(jsonb_agg(account_json(page.id, acting_person($2))
                                  ORDER BY page.created_at, page.id), '[]')
        FROM (SELECT * FROM mine ORDER BY created_at, id LIMIT $3 OFFSET $4) page),
       (SELECT count(*) FROM mine) AS total;

-- name: accounts_found
-- $1 the key that asks, $2 name: the new account.
SELECT team_found($1, $2);
