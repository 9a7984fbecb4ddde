-- name: rejections_get (read)
-- $1 account, $2 first day, $3 last day, in UTC, $4 gate, $5 repository, $6 interest (NULL: any), $7 the only repository that the
-- key may see (NULL: all).
SELECT fleet_rejections($1, $2::date, $3::date, $4, repository_key(coalesce($5, $7)), $6, repository_key($7));

-- name: rejection_experiment_store
-- $1 account, $2 time of the event, $3 whether the experiment was deleted, $4 the experiment in the event. An event with an older version
-- than the stored one changes nothing, and neither does an event after a deletion.
INSERT INTO experiment AS known (id, account_id, version, is_deleted, status, outcome, pr_status, pr_status_at, pr_url, made_at, told_at,
                                 arxiv_ids)
SELECT e.id, $1, coalesce(e.version, 0), $3, e.status, e.outcome, lower(e.pr_status), $2, e.pr_url, coalesce(e.created_at, $2), $2,
       ARRAY(SELECT DISTINCT arxiv_id_of(named) FROM unnest(e.arxiv_ids) AS named WHERE arxiv_id_of(named) IS NOT NULL)
FROM jsonb_to_record($4::jsonb) AS e (id uuid, version bigint, status text, outcome text, pr_status text, pr_url text, created_at timestamptz, arxiv_ids text[])
ON CONFLICT (id) DO UPDATE SET
    (version, is_deleted, status, outcome, pr_status, pr_status_at, pr_url, told_at, arxiv_ids) =
    (excluded.version, excluded.is_deleted, excluded.status, excluded.outcome, excluded.pr_status,
     CASE WHEN (known.pr_status, known.pr_url) IS NOT DISTINCT FROM (excluded.pr_status, excluded.pr_url)
          THEN coalesce(known.pr_status_at, known.told_at) ELSE excluded.told_at END,
     excluded.pr_url, excluded.told_at, excluded.arxiv_ids)
WHERE known.account_id = excluded.account_id AND NOT known.is_deleted AND known.version <= excluded.version;
