-- Experiments and their runs follow a repository that is renamed (service/repository_name.h).

-- A step of a run that began before a rename, and ends after it, has found the former name; so has an experiment that names it.
CREATE OR REPLACE FUNCTION implementation_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.repo := repository_hold(NEW.repo);
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER implementation_hold BEFORE INSERT OR UPDATE OF repo ON implementation
    FOR EACH ROW EXECUTE FUNCTION implementation_hold();

CREATE OR REPLACE FUNCTION repository_move(old_name text, new_name text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
    of_runs uuid[] := ARRAY(SELECT i.experiment_id FROM implementation i WHERE lower(i.repo) = lower(old_name)
                            UNION SELECT l.experiment_id FROM linked_runs_of(old_name) l);
BEGIN
    FOR e IN
        SELECT x.* FROM experiment x
        WHERE (x.launch_context ->> 'target_repo' IS NOT NULL AND lower(x.launch_context ->> 'target_repo') = lower(old_name))
           OR x.id = ANY (of_runs)
        ORDER BY x.id FOR UPDATE
    LOOP
        PERFORM experiment_change(e, jsonb_build_object('pr_url', repository_link_moved(e.pr_url, old_name, new_name, web_url))
            || CASE WHEN lower(e.launch_context ->> 'target_repo') = lower(old_name)
                    THEN jsonb_build_object('launch_context', jsonb_set(e.launch_context, '{target_repo}', to_jsonb(new_name)))
                    ELSE '{}' END, NULL, NULL);
    END LOOP;
    UPDATE implementation i SET repo = new_name WHERE lower(i.repo) = lower(old_name);
    PERFORM linked_runs_move(old_name, new_name);
END $$;
