-- name: fleet_report (read)
-- $1 account, $2 first day, $3 last day, $4 repositories as a JSON array of texts, each may name several with commas (NULL:
-- all), $5 the only repository that the key may see (NULL: all), $6 length of a step of the timelines: day, week or month. The
-- last column is the part of a query for runs that names the same repositories (NULL: all); a comma alone names none.
WITH narrowed AS MATERIALIZED (
    SELECT CASE WHEN $4::jsonb IS NULL AND $5::text IS NULL THEN NULL ELSE ARRAY(
        SELECT name FROM unnest(repos_named(coalesce($4, jsonb_build_array($5::text)))) AS name
        WHERE ($5::text IS NULL OR name = repository_key($5::text))
          AND repo_in_footprint($1, name) IS NOT NULL) END AS repos
), period AS (
    SELECT $2::date AS since, $3::date AS until, $2::date::timestamp AT TIME ZONE 'UTC' AS from_time,
           ($3::date + 1)::timestamp AT TIME ZONE 'UTC' AS to_time
)
SELECT f.sums, f.merged, f.median_hours, f.agents, f.agents_count,
       fleet_deliverables($1, p.from_time, p.to_time, o.repos) AS deliverables,
       fleet_chronology($1, p.from_time, p.to_time, o.repos) AS chronology, f.facts,
       CASE WHEN $4::jsonb IS NOT NULL THEN '&repos=' || coalesce(nullif(array_to_string(o.repos, ','), ''), ',') END AS repos_query
FROM narrowed o, period p, fleet_report($1, p.since, p.until, o.repos, $6) f;
