-- name: interest_seen(account, interest, papers) (read)
-- :papers is an array of ids. No row: there is no such interest.
SELECT jsonb_build_object('arxiv_ids', coalesce(
           (SELECT jsonb_agg(paper)
            FROM jsonb_array_elements_text(:papers::jsonb) paper
            WHERE EXISTS (SELECT FROM recommended r WHERE r.interest_id = i.id AND r.arxiv_id = paper)), '[]'))
FROM interest i
WHERE i.account_id = :account AND i.id = :interest;
