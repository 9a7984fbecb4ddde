-- name: daily_papers_is_due (read)
SELECT NOT EXISTS (SELECT FROM source_pace WHERE name = 'daily_papers' AND next_request_at > now());

-- name: daily_papers_wait(wait_ms)
-- :wait_ms is the time until the next run is due.
INSERT INTO source_pace (name, next_request_at)
VALUES ('daily_papers', now() + make_interval(secs => :wait_ms::float8 / 1000))
ON CONFLICT (name) DO UPDATE SET next_request_at = excluded.next_request_at;

-- name: daily_papers_store(papers)
-- :papers is an array of {"arxiv_id", "github_url", "upvotes"}, of which the last two can be missing. A repository that is known
-- stays. Returns how many papers have changed.
WITH given AS (
    SELECT arxiv_id, max(github_url) AS github_url, max(upvotes) AS upvotes
    FROM jsonb_to_recordset(:papers::jsonb) AS g (arxiv_id text, github_url text, upvotes int)
    GROUP BY arxiv_id
), changed AS (
    UPDATE asset a SET github_url = coalesce(a.github_url, g.github_url), upvotes = coalesce(g.upvotes, a.upvotes)
    FROM given g
    WHERE a.arxiv_id = g.arxiv_id AND NOT a.is_deleted
          AND (a.github_url, a.upvotes) IS DISTINCT FROM (coalesce(a.github_url, g.github_url), coalesce(g.upvotes, a.upvotes))
    RETURNING 1
)
SELECT count(*) FROM changed;
