-- name: feed_create
-- $1 account, $2 interest (NULL: all), $3 body, $4 hash of the token, $5 address, $6 key and $7 person of who makes it. No row: no such
-- interest. Violates feed_max and feed_maker_gone.
SELECT feed_json(f) || jsonb_build_object('url', $5::text)
FROM feed_make($1, $2, ($3::jsonb ->> 'min_score')::double precision, $4, $6, $7) f WHERE f.id IS NOT NULL;

-- name: feed_list (read)
-- $1 account, $2 limit, $3 offset.
SELECT (SELECT coalesce(jsonb_agg(feed_json(f) ORDER BY f.id DESC), '[]')
        FROM (SELECT * FROM feed WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3) f),
       (SELECT count(*) FROM feed WHERE account_id = $1) AS total;

-- name: feed_delete
-- $1 account, $2 feed.
DELETE FROM feed WHERE account_id = $1 AND id = $2 RETURNING jsonb_build_object('id', id, 'deleted', true);

-- name: feed_maker_gone
-- $1 account, $2 what the gateway tells of the person.
SELECT feeds_of_maker_delete($1, $2);
