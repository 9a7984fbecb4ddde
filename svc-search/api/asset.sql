-- name: asset_get (read)
SELECT asset_detail_json(a) FROM asset a WHERE arxiv_id = $1 AND NOT is_deleted;

-- name: asset_list (read)
-- $1 limit, $2 offset, $3 category or archive (NULL: all), $4 whether it has a container (NULL: either).
SELECT coalesce((SELECT jsonb_agg(asset_json(a) ORDER BY page.published_at DESC NULLS LAST, page.arxiv_id DESC)
                 FROM (SELECT arxiv_id, published_at FROM asset_key
                       WHERE key = coalesce($3, '') AND ($4::boolean IS NULL OR has_container = $4)
                       ORDER BY published_at DESC NULLS LAST, arxiv_id DESC LIMIT $1 OFFSET $2) page
                 JOIN asset a USING (arxiv_id)), '[]'),
       (SELECT coalesce(sum(papers), 0) FROM asset_count
        WHERE key = coalesce($3, '') AND ($4::boolean IS NULL OR has_container = $4)) AS total;

-- name: asset_list_any (read)
-- As asset_list, for papers of any of several categories: $3 is a JSON array of them.
WITH found AS MATERIALIZED (
    SELECT DISTINCT arxiv_id, published_at FROM asset_key
    WHERE key IN (SELECT jsonb_array_elements_text($3::jsonb)) AND ($4::boolean IS NULL OR has_container = $4)
)
SELECT coalesce((SELECT jsonb_agg(asset_json(a) ORDER BY page.published_at DESC NULLS LAST, page.arxiv_id DESC)
                 FROM (SELECT arxiv_id, published_at FROM found
                       ORDER BY published_at DESC NULLS LAST, arxiv_id DESC LIMIT $1 OFFSET $2) page
                 JOIN asset a USING (arxiv_id)), '[]'),
       (SELECT count(*) FROM found) AS total;

-- name: asset_list_of_ids (read)
-- As asset_list, for papers with one of several ids: $5 is a JSON array of them. $3 is one of categories, or NULL.
WITH found AS MATERIALIZED (
    SELECT arxiv_id, published_at FROM asset a
    WHERE arxiv_id IN (SELECT jsonb_array_elements_text($5::jsonb)) AND NOT is_deleted
      AND ($4::boolean IS NULL OR has_container = $4)
      AND ($3::jsonb IS NULL
           OR EXISTS (SELECT FROM list_keys(a.categories) key WHERE key IN (SELECT jsonb_array_elements_text($3::jsonb))))
)
SELECT coalesce((SELECT jsonb_agg(asset_json(a) ORDER BY page.published_at DESC NULLS LAST, page.arxiv_id DESC)
                 FROM (SELECT arxiv_id, published_at FROM found
                       ORDER BY published_at DESC NULLS LAST, arxiv_id DESC LIMIT $1 OFFSET $2) page
                 JOIN asset a USING (arxiv_id)), '[]'),
       (SELECT count(*) FROM found) AS total;

-- name: asset_put
-- $1 the id, $2 the members to change, $3 PLAIN_TEXT_VERSION of their texts. No row: nothing differs, $2 has an older updated_at than the paper, or there is no
-- such paper and $2 has no title to create it. A paper that its source has deleted is restored with the members of $2 alone.
-- DO UPDATE reads the row after locking it, so two concurrent writers do not undo each other's changes.
INSERT INTO asset AS a (arxiv_id, title, abstract, authors, categories, published_at, updated_at, github_url, comments,
                        container_image, container_status, containerfile, working_directory, environment_vars,
                        reference_summary, license, source_title, source_abstract, source_authors, text_version)
SELECT $1, coalesce(n.title, (SELECT title FROM asset WHERE arxiv_id = $1)), n.abstract, n.authors, n.categories,
       n.published_at, n.updated_at, n.github_url, n.comments, n.container_image, n.container_status, n.containerfile,
       n.working_directory, n.environment_vars, n.reference_summary, n.license, n.source_title, n.source_abstract,
       n.source_authors, $3
FROM jsonb_populate_record(
         NULL::asset, '{"abstract": "", "authors": [], "categories": [], "container_status": "none"}'::jsonb
         || '{"environment_vars": {}, "reference_summary": {"total": 0, "classified": 0, "by_class": {}}}'::jsonb || $2::jsonb) n
WHERE n.title IS NOT NULL OR EXISTS (SELECT FROM asset WHERE arxiv_id = $1 AND NOT is_deleted)
ON CONFLICT (arxiv_id) DO UPDATE SET
    (title, abstract, authors, categories, published_at, updated_at, github_url, comments, container_image, container_status,
     containerfile, working_directory, environment_vars, reference_summary, license, source_title, source_abstract,
     source_authors, text_version, is_deleted) =
    (SELECT r.title, r.abstract, r.authors, r.categories, r.published_at, r.updated_at, r.github_url, r.comments,
            r.container_image, r.container_status, r.containerfile, r.working_directory, r.environment_vars,
            r.reference_summary, r.license, r.source_title, r.source_abstract, r.source_authors,
            CASE WHEN $2::jsonb ?& '{title,abstract,authors}' THEN $3 ELSE a.text_version END, false
     FROM asset_patched(CASE WHEN a.is_deleted THEN excluded ELSE a END, $2::jsonb) r)
WHERE CASE WHEN a.is_deleted THEN $2::jsonb ? 'title'
           ELSE NOT is_older(excluded.updated_at, a.updated_at) AND a IS DISTINCT FROM asset_patched(a, $2::jsonb) END
RETURNING asset_detail_json(a);

-- name: asset_by_ids (read)
-- $1 an array of ids, $2 members that the JSON lacks. Their papers, in that order: the JSON of a list item, and the columns for highlights
-- and filters.
SELECT a.arxiv_id, asset_json(a) - $2::text[] AS asset, a.title, a.abstract, to_jsonb(a.categories) AS categories,
       to_char(a.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS published_at, a.has_container, a.github_url, a.comments
FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY AS requested (id, position)
JOIN asset a ON a.arxiv_id = requested.id AND NOT a.is_deleted
ORDER BY requested.position;

-- name: asset_shown (read)
-- $1 an array of ids. Their papers, in that order, as a list shows them.
SELECT a.arxiv_id, asset_json(a) AS asset
FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY AS requested (id, position)
JOIN asset a ON a.arxiv_id = requested.id AND NOT a.is_deleted
ORDER BY requested.position;

-- name: asset_shown_begin (read)
-- $1 a change, $2 how many papers: the change after which, up to $1, that many papers have changed last.
SELECT coalesce((SELECT change FROM asset WHERE change <= $1 ORDER BY change DESC OFFSET $2 LIMIT 1), 0);

-- name: asset_shown_changed (read)
-- As asset_shown, of the papers that changed last after $1 and up to $2, the first $3.
SELECT a.change, a.arxiv_id, asset_json(a) AS asset
FROM asset a WHERE a.change > $1 AND a.change <= $2 ORDER BY a.change LIMIT $3;

-- name: asset_stats (read)
-- $1 papers in the index of the replica that answers, $2 when it last applied a change, or NULL, $3 its embedder, or NULL.
SELECT jsonb_build_object(
    'total_assets', coalesce(sum(papers) FILTER (WHERE key = ''), 0),
    'recent_additions', (SELECT count(*) FROM asset
                         WHERE NOT is_deleted AND added_at >= now() - interval '7 days'),
    'by_container', jsonb_build_object(
        'with', coalesce(sum(papers) FILTER (WHERE key = '' AND has_container), 0),
        'without', coalesce(sum(papers) FILTER (WHERE key = '' AND NOT has_container), 0)),
    'by_category', (SELECT coalesce(jsonb_object_agg(key, named), '{}')
                    FROM (SELECT key, sum(named) AS named FROM asset_count
                          WHERE key <> '' GROUP BY key HAVING sum(named) > 0) counted),
    'citation_classification', jsonb_build_object(
        'classified', coalesce(sum(classified), 0), 'total', coalesce(sum(reference), 0),
        'coverage', coalesce(round(sum(classified) / nullif(sum(reference), 0), 4), 0)),
    'index', jsonb_build_object('documents', $1::bigint, 'updated_at', time_json($2), 'embedder', $3::text),
    'sources', (SELECT coalesce(jsonb_agg(source_json(s) ORDER BY name, set), '[]') FROM source s))
FROM asset_count;
