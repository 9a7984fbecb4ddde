-- name: feed_create(account, interest, body, hash, url, key, person)
-- An :interest of NULL: all. :hash is that of the token, :key and :person are those of who makes the feed. No row: there is no
-- such interest. Violates feed_max and feed_maker_gone.
SELECT feed_json(f) || jsonb_build_object('url', :url::text)
FROM feed_make(:account, :interest, (:body::jsonb ->> 'min_score')::double precision, :hash, :key, :person) f
WHERE f.id IS NOT NULL;

-- name: feed_list(account, limit, offset) (read)
SELECT (SELECT coalesce(jsonb_agg(feed_json(f) ORDER BY f.id DESC), '[]')
        FROM (SELECT * FROM feed WHERE account_id = :account ORDER BY id DESC LIMIT :limit OFFSET :offset) f),
       (SELECT count(*) FROM feed WHERE account_id = :account) AS total;

-- name: feed_delete(account, feed)
DELETE FROM feed
WHERE account_id = :account AND id = :feed
RETURNING jsonb_build_object('id', id, 'deleted', true);

-- name: feed_maker_gone(account, maker)
-- :maker is what the gateway tells of the person.
SELECT feeds_of_maker_delete(:account, :maker);
