-- Agents and interests follow a repository that is renamed (service/repository_name.h).

-- A step of provisioning that began before a rename, and ends after it, has found the former name.
CREATE OR REPLACE FUNCTION provisioning_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.repo := repository_hold(NEW.repo);
    NEW.key_repo := repository_hold(NEW.key_repo);
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER provisioning_hold BEFORE INSERT OR UPDATE OF repo, key_repo ON provisioning
    FOR EACH ROW EXECUTE FUNCTION provisioning_hold();

-- An agent on the new name, for another interest of the account, was provisioned after the rename; the one before it ends.
-- Links are looked for by what they begin with: an account can rename its repository all day.
CREATE OR REPLACE FUNCTION repository_move(old_name text, new_name text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first text := left(lower(web_url || '/' || old_name), 256);
    last text := first || chr(1114111);
BEGIN
    UPDATE provisioning p SET key_id = NULL, key_repo = NULL, key_expires_at = NULL, updated_at = now()
    FROM provisioning later
    WHERE lower(old_name) <> lower(new_name) AND lower(p.key_repo) = lower(old_name) AND lower(later.key_repo) = lower(new_name)
      AND later.account_id = p.account_id AND p.revoked_at IS NULL AND later.revoked_at IS NULL;
    UPDATE provisioning p SET
        repo = CASE WHEN lower(p.repo) = lower(old_name) THEN new_name ELSE p.repo END,
        key_repo = CASE WHEN lower(p.key_repo) = lower(old_name) THEN new_name ELSE p.key_repo END,
        pr_url = repository_link_moved(p.pr_url, old_name, new_name, web_url)
    WHERE lower(p.repo) = lower(old_name) OR lower(p.key_repo) = lower(old_name);
    DELETE FROM run_outcome o USING run_outcome later
    WHERE left(lower(o.url), 256) COLLATE "C" BETWEEN first AND last
      AND later.account_id = o.account_id AND later.url = repository_link_moved(o.url, old_name, new_name, web_url)
      AND later.url <> o.url;
    UPDATE run_outcome o SET url = repository_link_moved(o.url, old_name, new_name, web_url)
    WHERE left(lower(o.url), 256) COLLATE "C" BETWEEN first AND last AND o.url <> repository_link_moved(o.url, old_name, new_name, web_url);
    UPDATE interest i SET source_repo_url = repository_link_moved(i.source_repo_url, old_name, new_name, web_url)
    WHERE left(lower(i.source_repo_url), 256) COLLATE "C" BETWEEN first AND last
      AND i.source_repo_url <> repository_link_moved(i.source_repo_url, old_name, new_name, web_url);
END $$;
