-- name: asset_import
-- $1 an array of papers; of two with the same id, the later one is stored. An existing paper keeps its container and
-- members that the source does not give, and is not updated when nothing differs.
WITH given AS (
    SELECT DISTINCT ON (arxiv_id) *
    FROM jsonb_populate_recordset(NULL::asset, $1::jsonb) WITH ORDINALITY ORDER BY arxiv_id, ordinality DESC
), written AS (
    INSERT INTO asset AS a (arxiv_id, title, abstract, authors, categories, published_at, updated_at, github_url, license)
    SELECT arxiv_id, title, coalesce(abstract, ''), coalesce(authors, '{}'), coalesce(categories, '{}'), published_at,
           updated_at, github_url, license
    FROM given ORDER BY arxiv_id
    ON CONFLICT (arxiv_id) DO UPDATE SET
        title = excluded.title, abstract = excluded.abstract, authors = excluded.authors,
        categories = excluded.categories, published_at = coalesce(excluded.published_at, a.published_at),
        updated_at = coalesce(excluded.updated_at, a.updated_at),
        github_url = coalesce(excluded.github_url, a.github_url), license = coalesce(excluded.license, a.license),
        is_deleted = false
    WHERE (a.title, a.abstract, a.authors, a.categories, a.published_at, a.updated_at, a.github_url, a.license, a.is_deleted)
          IS DISTINCT FROM
          (excluded.title, excluded.abstract, excluded.authors, excluded.categories,
           coalesce(excluded.published_at, a.published_at), coalesce(excluded.updated_at, a.updated_at),
           coalesce(excluded.github_url, a.github_url), coalesce(excluded.license, a.license), false)
    RETURNING 1
)
SELECT count(*) FROM written;

-- name: asset_withdraw
-- $1 an array of ids that the source has deleted.
WITH withdrawn AS (
    UPDATE asset SET is_deleted = true
    WHERE arxiv_id IN (SELECT jsonb_array_elements_text($1::jsonb)) AND NOT is_deleted RETURNING 1
)
SELECT count(*) FROM withdrawn;

-- name: index_source_get (read)
-- The id of this database.
SELECT id FROM index_source;
