-- name: asset_get(paper) (read)
SELECT asset_detail_json(a) FROM asset a WHERE arxiv_id = :paper AND NOT is_deleted;

-- name: asset_list(limit, offset, category, has_container) (read)
-- A :category, or archive, of NULL: all. A :has_container of NULL: either.
SELECT coalesce((SELECT jsonb_agg(asset_json(a) ORDER BY page.published_at DESC NULLS LAST, page.arxiv_id DESC)
                 FROM (SELECT arxiv_id, published_at FROM asset_key
                       WHERE key = coalesce(:category, '') AND (:has_container::boolean IS NULL OR has_container = :has_container)
                       ORDER BY published_at DESC NULLS LAST, arxiv_id DESC LIMIT :limit OFFSET :offset) page
                 JOIN asset a USING (arxiv_id)), '[]'),
       (SELECT coalesce(sum(papers), 0) FROM asset_count
        WHERE key = coalesce(:category, '') AND (:has_container::boolean IS NULL OR has_container = :has_container)) AS total;

-- name: asset_list_any(limit, offset, categories, has_container) (read)
-- As asset_list, for papers of any of :categories, an array.
WITH found AS MATERIALIZED (
    SELECT DISTINCT arxiv_id, published_at FROM asset_key
    WHERE key IN (SELECT jsonb_array_elements_text(:categories::jsonb))
      AND (:has_container::boolean IS NULL OR has_container = :has_container)
)
SELECT coalesce((SELECT jsonb_agg(asset_json(a) ORDER BY page.published_at DESC NULLS LAST, page.arxiv_id DESC)
                 FROM (SELECT arxiv_id, published_at FROM found
                       ORDER BY published_at DESC NULLS LAST, arxiv_id DESC LIMIT :limit OFFSET :offset) page
                 JOIN asset a USING (arxiv_id)), '[]'),
       (SELECT count(*) FROM found) AS total;

-- name: asset_list_of_ids(limit, offset, categories, has_container, papers) (read)
-- As asset_list, for those of :papers, an array of ids, that are of any of :categories, an array. A :categories of NULL: all.
WITH found AS MATERIALIZED (
    SELECT arxiv_id, published_at FROM asset a
    WHERE arxiv_id IN (SELECT jsonb_array_elements_text(:papers::jsonb)) AND NOT is_deleted
      AND (:has_container::boolean IS NULL OR has_container = :has_container)
      AND (:categories::jsonb IS NULL
           OR EXISTS (SELECT FROM list_keys(a.categories) key
                      WHERE key IN (SELECT jsonb_array_elements_text(:categories::jsonb))))
)
SELECT coalesce((SELECT jsonb_agg(asset_json(a) ORDER BY page.published_at DESC NULLS LAST, page.arxiv_id DESC)
                 FROM (SELECT arxiv_id, published_at FROM found
                       ORDER BY published_at DESC NULLS LAST, arxiv_id DESC LIMIT :limit OFFSET :offset) page
                 JOIN asset a USING (arxiv_id)), '[]'),
       (SELECT count(*) FROM found) AS total;

-- name: asset_put(paper, body, text_version)
-- :body has the members to change, :text_version is the PLAIN_TEXT_VERSION of their texts. No row: nothing differs, :body has an
-- older updated_at than the paper, or there is no such paper and :body has no title to create it. A paper that its source has
-- deleted is restored with the members of :body alone. DO UPDATE reads the row after locking it, so two concurrent writers do not
-- undo each other's changes.
INSERT INTO asset AS a (arxiv_id, title, abstract, authors, categories, published_at, updated_at, github_url, comments,
                        container_image, container_status, containerfile, working_directory, environment_vars,
                        reference_summary, license, source_title, source_abstract, source_authors, text_version)
SELECT :paper, coalesce(n.title, (SELECT title FROM asset WHERE arxiv_id = :paper)), n.abstract, n.authors, n.categories,
       n.published_at, n.updated_at, n.github_url, n.comments, n.container_image, n.container_status, n.containerfile,
       n.working_directory, n.environment_vars, n.reference_summary, n.license, n.source_title, n.source_abstract,
       n.source_authors, :text_version
FROM jsonb_populate_record(
         NULL::asset, '{"abstract": "", "authors": [], "categories": [], "container_status": "none"}'::jsonb
         || '{"environment_vars": {}, "reference_summary": {"total": 0, "classified": 0, "by_class": {}}}'::jsonb
         || :body::jsonb) n
WHERE n.title IS NOT NULL OR EXISTS (SELECT FROM asset WHERE arxiv_id = :paper AND NOT is_deleted)
ON CONFLICT (arxiv_id) DO UPDATE SET
    (title, abstract, authors, categories, published_at, updated_at, github_url, comments, container_image, container_status,
     containerfile, working_directory, environment_vars, reference_summary, license, source_title, source_abstract,
     source_authors, text_version, is_deleted) =
    (SELECT r.title, r.abstract, r.authors, r.categories, r.published_at, r.updated_at, r.github_url, r.comments,
            r.container_image, r.container_status, r.containerfile, r.working_directory, r.environment_vars,
            r.reference_summary, r.license, r.source_title, r.source_abstract, r.source_authors,
            CASE WHEN :body::jsonb ?& '{title,abstract,authors}' THEN :text_version ELSE a.text_version END, false
     FROM asset_patched(CASE WHEN a.is_deleted THEN excluded ELSE a END, :body::jsonb) r)
WHERE CASE WHEN a.is_deleted THEN :body::jsonb ? 'title'
           ELSE NOT is_older(excluded.updated_at, a.updated_at) AND a IS DISTINCT FROM asset_patched(a, :body::jsonb) END
RETURNING asset_detail_json(a);

-- name: asset_by_ids(papers, left_out) (read)
-- Returns :papers, an array of ids, in that order: the JSON of a list item, without the members :left_out, and the columns for
-- highlights and filters.
SELECT a.arxiv_id, asset_json(a) - :left_out::text[] AS asset, a.title, a.abstract, to_jsonb(a.categories) AS categories,
       to_char(a.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS published_at, a.has_container, a.github_url, a.comments
FROM jsonb_array_elements_text(:papers::jsonb) WITH ORDINALITY AS requested (id, position)
JOIN asset a ON a.arxiv_id = requested.id AND NOT a.is_deleted
ORDER BY requested.position;

-- name: asset_shown(papers) (read)
-- Returns :papers, an array of ids, in that order, as a list shows them.
SELECT a.arxiv_id, asset_json(a) AS asset
FROM jsonb_array_elements_text(:papers::jsonb) WITH ORDINALITY AS requested (id, position)
JOIN asset a ON a.arxiv_id = requested.id AND NOT a.is_deleted
ORDER BY requested.position;

-- name: asset_shown_begin(until, count) (read)
-- Returns the change after which :count papers have changed last, up to the change :until.
SELECT coalesce((SELECT change FROM asset WHERE change <= :until ORDER BY change DESC OFFSET :count LIMIT 1), 0);

-- name: asset_shown_changed(after, until, limit) (read)
-- As asset_shown, of the first :limit papers that changed last after the change :after and up to :until.
SELECT a.change, a.arxiv_id, asset_json(a) AS asset
FROM asset a
WHERE a.change > :after AND a.change <= :until AND NOT a.is_deleted
ORDER BY a.change
LIMIT :limit;

-- name: asset_stats(documents, updated_at, embedder) (read)
-- :documents is the number of papers in the index of the replica that answers, :updated_at is when it last applied a change, and
-- :embedder is its embedder. Both can be NULL.
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
    'index', jsonb_build_object(
        'documents', :documents::bigint, 'updated_at', time_json(:updated_at), 'embedder', :embedder::text),
    'sources', (SELECT coalesce(jsonb_agg(source_json(s) ORDER BY name, set), '[]') FROM source s))
FROM asset_count;
