-- The entity tag of an experiment: its version, and a hash of the name of its project, which the experiment shows and which
-- changes without it. Volatile, as experiment_detail_json().
CREATE FUNCTION experiment_etag(e experiment) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT e.version || coalesce((SELECT '-' || left(md5(p.name), 8) FROM project p WHERE p.id = e.project_id), '')
$$;
