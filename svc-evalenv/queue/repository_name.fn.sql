-- Builds, runs and templates follow a repository that is renamed (service/repository_name.h). They name it, or have a link to it.
CREATE OR REPLACE FUNCTION repository_reference_moved(reference text, old_name text, new_name text, web_url text) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN lower(reference) = lower(old_name) THEN new_name
            ELSE repository_link_moved(reference, old_name, new_name, web_url) END;

-- They are looked for by what they begin with: an account can rename its repository all day.
CREATE OR REPLACE FUNCTION repository_move(old_name text, new_name text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := left(lower(old_name), 256);
    first text := left(lower(web_url || '/' || old_name), 256);
    last text := first || chr(1114111);
BEGIN
    UPDATE work w SET repo = repository_reference_moved(w.repo, old_name, new_name, web_url)
    WHERE (left(lower(w.repo), 256) COLLATE "C" = name OR left(lower(w.repo), 256) COLLATE "C" BETWEEN first AND last)
      AND w.repo <> repository_reference_moved(w.repo, old_name, new_name, web_url);
    UPDATE template t SET repo = new_name WHERE lower(t.repo) = lower(old_name);
    UPDATE build b SET repo = repository_reference_moved(b.repo, old_name, new_name, web_url)
    WHERE (left(lower(b.repo), 256) COLLATE "C" = name OR left(lower(b.repo), 256) COLLATE "C" BETWEEN first AND last)
      AND b.repo <> repository_reference_moved(b.repo, old_name, new_name, web_url);
END $$;
