-- name: run_outcome_store(account, outcome, told_at)
-- Stores the outcome of an event. :told_at is the time of the event. An event with an older version than the stored one changes
-- nothing. The run may have written any text as the id of a recommendation. A merge that was reverted counts as if it had not
-- been.
INSERT INTO run_outcome AS known (account_id, url, version, stage, interest_id, recommendation_id, arxiv_id, stage_at)
SELECT :account, o.url, o.version,
       CASE o.stage WHEN 'reverted' THEN 'closed' ELSE o.stage END,
       o.interest_id,
       CASE WHEN o.recommendation_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN o.recommendation_id::uuid END,
       arxiv_id_of(o.arxiv_id), :told_at
FROM jsonb_to_record(:outcome::jsonb)
     AS o (url text, version bigint, stage text, interest_id uuid, recommendation_id text, arxiv_id text)
ON CONFLICT (account_id, url) DO UPDATE SET
    (version, stage, interest_id, recommendation_id, arxiv_id, stage_at) =
    (excluded.version, excluded.stage, excluded.interest_id, excluded.recommendation_id, excluded.arxiv_id,
     CASE WHEN known.stage = excluded.stage THEN known.stage_at ELSE excluded.stage_at END)
WHERE known.version <= excluded.version;
