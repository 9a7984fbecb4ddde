-- name: interest_seen (read)
-- $1 account, $2 interest, $3 an array of ids of papers. No row: no such interest.
SELECT jsonb_build_object('arxiv_ids', coalesce(
           (SELECT jsonb_agg(paper) FROM jsonb_array_elements_text($3::jsonb) paper
            WHERE EXISTS (SELECT FROM recommended r WHERE r.interest_id = i.id AND r.arxiv_id = paper)), '[]'))
FROM interest i WHERE i.account_id = $1 AND i.id = $2;
