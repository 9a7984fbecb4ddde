-- name: rejections_get(account, first_day, last_day, gate, repository, interest, only_repository) (read)
-- The days are in UTC. A :gate, :repository or :interest of NULL: any. :only_repository is the only one that the key may see;
-- NULL: all.
SELECT fleet_rejections(:account, :first_day::date, :last_day::date, :gate,
                        repository_key(coalesce(:repository, :only_repository)), :interest, repository_key(:only_repository));

-- name: rejection_experiment_store(account, told_at, is_deleted, experiment)
-- :told_at is the time of the event, :experiment the experiment in it, :is_deleted whether that was deleted. An event with an
-- older version than the stored one changes nothing, and neither does an event after a deletion.
INSERT INTO experiment AS known (
    id, account_id, version, is_deleted, status, outcome, pr_status, pr_status_at, pr_url, made_at, told_at, arxiv_ids)
SELECT e.id, :account, coalesce(e.version, 0), :is_deleted, e.status, e.outcome, lower(e.pr_status), :told_at, e.pr_url,
       coalesce(e.created_at, :told_at), :told_at,
       ARRAY(SELECT DISTINCT arxiv_id_of(named) FROM unnest(e.arxiv_ids) AS named WHERE arxiv_id_of(named) IS NOT NULL)
FROM jsonb_to_record(:experiment::jsonb) AS e (
    id uuid, version bigint, status text, outcome text, pr_status text, pr_url text, created_at timestamptz, arxiv_ids text[])
ON CONFLICT (id) DO UPDATE SET
    (version, is_deleted, status, outcome, pr_status, pr_status_at, pr_url, told_at, arxiv_ids) =
    (excluded.version, excluded.is_deleted, excluded.status, excluded.outcome, excluded.pr_status,
     CASE WHEN (known.pr_status, known.pr_url) IS NOT DISTINCT FROM (excluded.pr_status, excluded.pr_url)
          THEN coalesce(known.pr_status_at, known.told_at) ELSE excluded.told_at END,
     excluded.pr_url, excluded.told_at, excluded.arxiv_ids)
WHERE known.account_id = excluded.account_id AND NOT known.is_deleted AND known.version <= excluded.version;
