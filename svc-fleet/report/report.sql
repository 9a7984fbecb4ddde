-- name: fleet_report(account, first_day, last_day, repositories, only_repository, step) (read)
-- :repositories is a JSON array of texts, each of which may name several with commas; NULL: all. :only_repository is the only one
-- that the key may see; NULL: all. :step is the length of a step of the timelines: day, week or month. The last column is the
-- part of a query for runs that names the same repositories (NULL: all); a comma alone names none.
WITH narrowed AS MATERIALIZED (
    SELECT CASE WHEN :repositories::jsonb IS NULL AND :only_repository::text IS NULL THEN NULL ELSE ARRAY(
        SELECT name FROM unnest(repos_named(coalesce(:repositories, jsonb_build_array(:only_repository::text)))) AS name
        WHERE (:only_repository::text IS NULL OR name = repository_key(:only_repository::text))
          AND repo_in_footprint(:account, name) IS NOT NULL) END AS repos
), period AS (
    SELECT :first_day::date AS since, :last_day::date AS until,
           :first_day::date::timestamp AT TIME ZONE 'UTC' AS from_time,
           (:last_day::date + 1)::timestamp AT TIME ZONE 'UTC' AS to_time
)
SELECT f.sums, f.merged, f.median_hours, f.agents, f.agents_count,
       fleet_deliverables(:account, p.from_time, p.to_time, o.repos) AS deliverables,
       fleet_chronology(:account, p.from_time, p.to_time, o.repos) AS chronology, f.facts,
       CASE WHEN :repositories::jsonb IS NOT NULL
            THEN '&repos=' || coalesce(nullif(array_to_string(o.repos, ','), ''), ',') END AS repos_query
FROM narrowed o, period p, fleet_report(:account, p.since, p.until, o.repos, :step) f;
