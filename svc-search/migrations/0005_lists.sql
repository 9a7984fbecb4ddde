-- Lists show whole abstracts: clients read them for models and look for links in them.
CREATE OR REPLACE FUNCTION asset_json(a asset) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', a.arxiv_id, 'title', a.title, 'abstract', a.abstract,
        'authors', to_jsonb(a.authors), 'categories', to_jsonb(a.categories),
        'url', 'https://arxiv.org/abs/' || a.arxiv_id,
        'published_at', time_json(a.published_at), 'updated_at', time_json(a.updated_at),
        'github_url', a.github_url, 'has_container', a.has_container,
        'container_image', a.container_image, 'container_status', a.container_status)
$$;
DROP FUNCTION abstract_start(text);

-- When a paper came in; null: before this column.
ALTER TABLE asset ADD COLUMN added_at timestamptz;
ALTER TABLE asset ALTER COLUMN added_at SET DEFAULT now();
CREATE INDEX asset_added ON asset (added_at) WHERE NOT is_deleted;
