-- A paper as the ranking code reads it: with the address of its authors' code.
CREATE OR REPLACE FUNCTION paper_json(p paper) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', p.arxiv_id, 'title', p.asset -> 'title', 'abstract', p.abstract,
        'categories', p.asset -> 'categories', 'published_at', p.asset -> 'published_at',
        'has_container', p.asset -> 'has_container', 'github_url', p.asset -> 'github_url',
        'vector', p.vector, 'scale', p.scale, 'model', p.model)
$$;
