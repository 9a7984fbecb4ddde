-- name: asset_get (read)
SELECT asset_detail_json(a) FROM asset a WHERE arxiv_id = $1 AND NOT is_deleted;

-- name: asset_list (read)
-- $1 limit, $2 offset, $3 category or archive or NULL, $4 with or without a container or NULL.
SELECT coalesce((SELECT jsonb_agg(asset_json(a) ORDER BY a.published_at DESC NULLS LAST, a.arxiv_id DESC)
                 FROM (SELECT * FROM asset
                       WHERE NOT is_deleted
                         AND ($3::text IS NULL OR category_keys @> ARRAY[$3::text])
                         AND ($4::boolean IS NULL OR has_container = $4)
                       ORDER BY published_at DESC NULLS LAST, arxiv_id DESC LIMIT $1 OFFSET $2) a), '[]'),
       (SELECT count(*) FROM asset
        WHERE NOT is_deleted
          AND ($3::text IS NULL OR category_keys @> ARRAY[$3::text])
          AND ($4::boolean IS NULL OR has_container = $4));

-- name: asset_update
-- $2 holds the members that are to change.
UPDATE asset SET
    (title, abstract, authors, categories, published_at, updated_at, github_url, container_image, container_status,
     containerfile, working_directory, environment_vars, reference_summary, license, is_deleted) =
    (SELECT r.title, r.abstract, r.authors, r.categories, r.published_at, r.updated_at, r.github_url,
            r.container_image, r.container_status, r.containerfile, r.working_directory, r.environment_vars,
            r.reference_summary, r.license, false
     FROM jsonb_populate_record(asset, $2::jsonb - 'has_container') r)
WHERE arxiv_id = $1
RETURNING asset_detail_json(asset);

-- name: asset_import
-- $1 an array of papers. One that is there already keeps its container, and is left alone when nothing differs.
WITH given AS (
    SELECT DISTINCT ON (arxiv_id) * FROM jsonb_populate_recordset(NULL::asset, $1::jsonb)
), written AS (
    INSERT INTO asset AS a (arxiv_id, title, abstract, authors, categories, published_at, updated_at, github_url, license,
                            container_image, container_status, containerfile, working_directory, environment_vars,
                            reference_summary)
    SELECT arxiv_id, title, coalesce(abstract, ''), coalesce(authors, '{}'), coalesce(categories, '{}'), published_at,
           updated_at, github_url, license, container_image, coalesce(container_status, 'none'), containerfile,
           working_directory, coalesce(environment_vars, '{}'),
           coalesce(reference_summary, '{"total": 0, "classified": 0, "by_class": {}}')
    FROM given ORDER BY arxiv_id
    ON CONFLICT (arxiv_id) DO UPDATE SET
        title = excluded.title, abstract = excluded.abstract, authors = excluded.authors,
        categories = excluded.categories, published_at = excluded.published_at, updated_at = excluded.updated_at,
        github_url = coalesce(excluded.github_url, a.github_url), license = coalesce(excluded.license, a.license),
        is_deleted = false
    WHERE (a.title, a.abstract, a.authors, a.categories, a.published_at, a.updated_at, a.is_deleted)
          IS DISTINCT FROM
          (excluded.title, excluded.abstract, excluded.authors, excluded.categories, excluded.published_at,
           excluded.updated_at, false)
       OR (excluded.github_url IS NOT NULL AND excluded.github_url IS DISTINCT FROM a.github_url)
       OR (excluded.license IS NOT NULL AND excluded.license IS DISTINCT FROM a.license)
    RETURNING arxiv_id, asset_detail_json(a) AS detail
)
SELECT (SELECT count(*) FROM written), (SELECT detail FROM written LIMIT 1);

-- name: asset_withdraw
-- $1 an array of ids that their source has deleted.
WITH gone AS (
    UPDATE asset SET is_deleted = true
    WHERE arxiv_id IN (SELECT jsonb_array_elements_text($1::jsonb)) AND NOT is_deleted RETURNING 1
)
SELECT count(*) FROM gone;

-- name: asset_pick (read)
-- $1 an array of ids: their papers in that order, as lists show them, with what is needed to mark the matching words.
SELECT a.arxiv_id, asset_json(a), a.title, a.abstract, to_jsonb(a.categories), to_char(a.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
       a.has_container, a.github_url
FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY AS wanted (id, place)
JOIN asset a ON a.arxiv_id = wanted.id AND NOT a.is_deleted
ORDER BY wanted.place;

-- name: asset_changes (read)
-- What has changed since number $1, at most $2 papers.
SELECT change, arxiv_id, title, abstract, array_to_string(categories, ' '),
       coalesce(floor(extract(epoch FROM published_at) / 86400), 0)::int, has_container, is_deleted
FROM asset WHERE change > $1 ORDER BY change LIMIT $2;

-- name: index_source_get (read)
SELECT s.id, (SELECT coalesce(max(change), 0) FROM asset) FROM index_source s;

-- name: asset_stats_kept (read)
SELECT figures FROM asset_stats WHERE change = (SELECT coalesce(max(change), 0) FROM asset);

-- name: asset_stats_count
WITH newest AS (
    SELECT coalesce(max(change), 0) AS change FROM asset
), figures AS (
    SELECT jsonb_build_object(
        'total_assets', count(*),
        'by_container', jsonb_build_object('with', count(*) FILTER (WHERE has_container),
                                           'without', count(*) FILTER (WHERE NOT has_container)),
        'by_category', (SELECT coalesce(jsonb_object_agg(c, n), '{}')
                        FROM (SELECT c, count(*) AS n FROM asset, unnest(categories) c
                              WHERE NOT is_deleted GROUP BY c) counted),
        'citation_classification', jsonb_build_object(
            'classified', coalesce(sum((reference_summary->>'classified')::bigint), 0),
            'total', coalesce(sum((reference_summary->>'total')::bigint), 0),
            'coverage', coalesce(round(sum((reference_summary->>'classified')::numeric)
                                 / nullif(sum((reference_summary->>'total')::numeric), 0), 4), 0))) AS figures
    FROM asset WHERE NOT is_deleted
)
INSERT INTO asset_stats (change, figures) SELECT newest.change, figures.figures FROM newest, figures
ON CONFLICT (is_only) DO UPDATE SET change = excluded.change, figures = excluded.figures
RETURNING figures;
