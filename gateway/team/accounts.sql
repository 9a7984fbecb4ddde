-- name: accounts_list(account, actor_key, limit, offset) (read)
-- Returns the accounts of the person of the key that asks, or its own. The oldest first.
WITH mine AS MATERIALIZED (
    SELECT a.id, a.created_at
    FROM account a
    WHERE a.id = :account OR a.id IN (SELECT m.account_id FROM member m WHERE m.person_id = acting_person(:actor_key))
)
SELECT (SELECT coalesce(jsonb_agg(account_json(page.id, acting_person(:actor_key))
                                  ORDER BY page.created_at, page.id), '[]')
        FROM (SELECT * FROM mine ORDER BY created_at, id LIMIT :limit OFFSET :offset) page),
       (SELECT count(*) FROM mine) AS total;

-- name: accounts_found(actor_key, name)
-- Returns the new account.
SELECT team_found(:actor_key, :name);
