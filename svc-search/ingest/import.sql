-- name: asset_import(papers, text_version, source)
-- :papers is an array of papers, :text_version is the PLAIN_TEXT_VERSION of their texts. Of two with the same id, the newer one
-- is stored, and of equally new ones the later. A paper whose stored version is newer stays as it is. A paper without the time of
-- its first version has the one that is known, else that of this version. A date (midnight) of the day of a stored time is that
-- time. An existing paper keeps its container and members that the source does not give, and is not updated when nothing differs.
-- Returns how many were added, updated, and older than what is stored, and when the newest paper was published that came after
-- the announcement before, in ms since the epoch.
WITH listed AS (
    SELECT * FROM jsonb_populate_recordset(NULL::asset, :papers::jsonb) WITH ORDINALITY
), given AS (
    SELECT DISTINCT ON (arxiv_id) * FROM listed ORDER BY arxiv_id, updated_at DESC NULLS LAST, ordinality DESC
), stored AS (
    SELECT arxiv_id, updated_at, published_at, added_at FROM asset WHERE arxiv_id IN (SELECT arxiv_id FROM given)
), written AS (
    INSERT INTO asset AS a (arxiv_id, title, abstract, authors, categories, published_at, updated_at, github_url, license,
                            comments, doi, source_title, source_abstract, source_authors, text_version)
    SELECT arxiv_id, g.title, coalesce(g.abstract, ''), coalesce(g.authors, '{}'), coalesce(g.categories, '{}'),
           coalesce(g.published_at, s.published_at, g.updated_at), g.updated_at, g.github_url, g.license, g.comments, g.doi,
           g.source_title, g.source_abstract, g.source_authors, :text_version
    FROM given g LEFT JOIN stored s USING (arxiv_id) ORDER BY arxiv_id
    ON CONFLICT (arxiv_id) DO UPDATE SET
        title = excluded.title, abstract = excluded.abstract, authors = excluded.authors,
        categories = excluded.categories, published_at = known_time(excluded.published_at, a.published_at),
        updated_at = known_time(excluded.updated_at, a.updated_at),
        github_url = coalesce(excluded.github_url, a.github_url), license = coalesce(excluded.license, a.license),
        comments = coalesce(excluded.comments, a.comments), doi = coalesce(excluded.doi, a.doi),
        source_title = excluded.source_title, source_abstract = excluded.source_abstract,
        source_authors = excluded.source_authors, text_version = excluded.text_version, is_deleted = false
    WHERE NOT is_older(excluded.updated_at, a.updated_at) AND
          (a.title, a.abstract, a.authors, a.categories, a.published_at, a.updated_at, a.github_url, a.license, a.comments,
           a.doi, a.source_title, a.source_abstract, a.source_authors, a.is_deleted)
          IS DISTINCT FROM
          (excluded.title, excluded.abstract, excluded.authors, excluded.categories,
           known_time(excluded.published_at, a.published_at), known_time(excluded.updated_at, a.updated_at),
           coalesce(excluded.github_url, a.github_url), coalesce(excluded.license, a.license),
           coalesce(excluded.comments, a.comments), coalesce(excluded.doi, a.doi),
           excluded.source_title, excluded.source_abstract, excluded.source_authors, false)
    RETURNING xmax = 0 AS is_new, published_at
)
SELECT (SELECT count(*) FROM written WHERE is_new) AS added,
       (SELECT count(*) FROM written WHERE NOT is_new) AS updated,
       (SELECT count(*) FROM given g JOIN stored s USING (arxiv_id) WHERE is_older(g.updated_at, s.updated_at))
       + (SELECT count(*) FROM listed l JOIN given g USING (arxiv_id) WHERE l.updated_at < g.updated_at) AS older,
       (extract(epoch FROM greatest((SELECT max(published_at) FROM written WHERE is_new),
                                    (SELECT max(published_at) FROM stored
                                     WHERE added_at >= announcement_before(:source, now())))) * 1000)::bigint AS newest_added_ms;

-- name: index_source_get (read)
-- Returns the id of this database.
SELECT id FROM index_source;
