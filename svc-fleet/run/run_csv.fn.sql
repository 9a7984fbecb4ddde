-- Runs as rows of a CSV. The ids are those of run_key, `ID FIRST_AT`, since the table is partitioned by the time that a run was first heard of.

-- The newest runs of the list, at most `most`, and how many there are; filters as of run_page().
CREATE OR REPLACE FUNCTION run_outline(account uuid, in_repo text, in_repos text[], with_run text, with_outcome text, by_agent text,
                            of_interest text, of_paper text, since date, until date, merged_since date, merged_until date, most int,
                            OUT ids json, OUT names json, OUT total bigint)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    repos text[] := CASE WHEN in_repo IS NULL THEN in_repos
                         WHEN in_repos IS NULL OR in_repo = ANY (in_repos) THEN ARRAY[in_repo] ELSE '{}' END; -- null: all
    chosen uuid[] := runs_chosen(account, repos, with_run, merged_since, merged_until);
BEGIN
    total := (run_page(account, in_repo, in_repos, with_run, with_outcome, by_agent, of_interest, of_paper, since, until, merged_since,
                       merged_until, false, 0, 0)).total;
    WITH newest AS MATERIALIZED (
        SELECT r.id, r.first_at, r.at, r.record -> 'metrics' AS metrics FROM run r
        WHERE r.account_id = account AND (repos IS NULL OR r.repo_key = ANY (repos))
          AND (with_outcome IS NULL OR r.outcome_kind = with_outcome)
          AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
          AND (of_paper IS NULL OR r.arxiv_id = of_paper)
          AND (since IS NULL OR r.at >= since::timestamp AT TIME ZONE 'UTC') AND (until IS NULL OR r.at < (until + 1)::timestamp AT TIME ZONE 'UTC')
          AND (chosen IS NULL OR r.id = ANY (chosen))
        ORDER BY r.at DESC, r.id DESC LIMIT most
    )
    SELECT coalesce(json_agg(n.id || ' ' || n.first_at ORDER BY n.at DESC, n.id DESC), '[]'),
           (SELECT coalesce(json_agg(m.name ORDER BY m.name), '[]')
            FROM (SELECT DISTINCT k.name FROM newest o, jsonb_object_keys(numbers_of(o.metrics)) AS k (name) ORDER BY 1 LIMIT 1000) m)
    INTO ids, names FROM newest n;
END $$;

-- The runs of the ids, in their order, with the members that are columns: as many of the first as make up 1 MiB, and one more. How many ids
-- were read.
CREATE OR REPLACE FUNCTION run_csv_rows(account uuid, ids jsonb, columns text[], OUT page text, OUT taken int) LANGUAGE sql STABLE AS $$
    WITH found AS MATERIALIZED (
        SELECT i.place, (SELECT jsonb_object_agg(c.name, s.shown -> c.name) FROM unnest(columns) AS c (name) WHERE s.shown ? c.name)::text AS entry
        FROM jsonb_array_elements_text(ids) WITH ORDINALITY AS i (named, place)
        JOIN run r ON r.id = split_part(i.named, ' ', 1)::uuid AND r.first_at = substr(i.named, 38)::timestamptz AND r.account_id = account
        CROSS JOIN LATERAL (SELECT run_json(r) || jsonb_build_object(
            'duration_seconds', extract(epoch FROM r.finished_at - (r.record ->> 'started_at')::timestamptz),
            'metrics', numbers_of(r.record -> 'metrics')) OFFSET 0) AS s (shown)
    ), measured AS (
        SELECT f.place, f.entry, sum(octet_length(f.entry)) OVER (ORDER BY f.place) - octet_length(f.entry) < 1048576 AS has_room FROM found f
    )
    SELECT '[' || coalesce(string_agg(m.entry, ',' ORDER BY m.place) FILTER (WHERE m.has_room), '') || ']',
           coalesce(min(m.place) FILTER (WHERE NOT m.has_room) - 1, jsonb_array_length(ids))::int
    FROM measured m
$$;
