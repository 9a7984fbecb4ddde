-- name: conversion_next(limit) (read)
-- Returns an array of papers whose texts are to be converted, as rows of `asset` with the texts of their source. The condition is
-- that of the index asset_text_stale.
SELECT coalesce(jsonb_agg(jsonb_build_object(
           'arxiv_id', arxiv_id, 'change', change, 'title', coalesce(source_title, title),
           'abstract', coalesce(source_abstract, abstract), 'authors', to_jsonb(coalesce(source_authors, authors)))), '[]')
FROM (SELECT * FROM asset WHERE text_version < 1 AND has_markup(title, abstract, authors) LIMIT :limit) stale;

-- name: conversion_store(papers, text_version)
-- :papers is an array of converted papers, :text_version is PLAIN_TEXT_VERSION. Those that have changed since they were read are
-- left for later.
UPDATE asset a
SET title = n.title, abstract = n.abstract, authors = n.authors, source_title = n.source_title,
    source_abstract = n.source_abstract, source_authors = n.source_authors, text_version = :text_version
FROM jsonb_populate_recordset(NULL::asset, :papers::jsonb) n
WHERE a.arxiv_id = n.arxiv_id AND a.change = n.change;
