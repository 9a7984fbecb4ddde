-- Names of repositories (service/repository_name.h), as the code host reports them.

-- What the code host reported of a repository under its old name is asked again.
CREATE OR REPLACE FUNCTION repository_move(old_name text, new_name text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM installation i WHERE i.repo IN (lower(old_name), lower(new_name));
    DELETE FROM installation_absence a WHERE a.repo IN (lower(old_name), lower(new_name));
    DELETE FROM repository_access a WHERE a.repo IN (lower(old_name), lower(new_name));
    INSERT INTO access_lost (account_id, repo, since)
    SELECT a.account_id, lower(new_name), a.since FROM access_lost a WHERE a.repo = lower(old_name)
    ON CONFLICT DO NOTHING;
    DELETE FROM access_lost a WHERE a.repo = lower(old_name) AND lower(old_name) <> lower(new_name);
    UPDATE dispatch d SET repo = new_name WHERE lower(d.repo) = lower(old_name);
    UPDATE endpoint e SET repos = ARRAY(SELECT CASE WHEN lower(r) = lower(old_name) THEN new_name ELSE r END FROM unnest(e.repos) r)
    WHERE lower(old_name) = ANY (lower(e.repos::text)::text[]);
END $$;

-- Whether a name that is reported of a repository is out of date, since deliveries can be late or repeated: a newer one was reported of it, or
-- the name was reported of another repository later. Where the times do not decide, the event of a rename is believed, and another event
-- unless the repository has had the name before. `at` null: unknown.
CREATE OR REPLACE FUNCTION repository_name_is_late(of_number bigint, name text, at timestamptz, is_rename boolean) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    known repository;
    holder repository;
BEGIN
    SELECT * INTO known FROM repository r WHERE r.number = of_number;
    SELECT * INTO holder FROM repository r WHERE lower(r.name) = lower($2) AND r.number <> of_number;
    RETURN coalesce(at < known.told_at, false) OR coalesce(at < holder.told_at, false)
        OR (NOT is_rename AND (at > known.told_at) IS NOT TRUE
            AND EXISTS (SELECT FROM repository_former f WHERE f.name = lower($2) AND f.number = of_number));
END $$;

-- Take the name that the code host reports of a repository. When it is new here, the other services are notified by the event
-- `repository_name`. Its version rises, also when this database was restored to an earlier point, in the order of the commits: one
-- name is taken at a time.
--
--   given    {"number", "name", "former", "at", "is_rename"}; the last three may be null or absent
--   web_url  the address of the code host's pages
CREATE OR REPLACE FUNCTION repository_record(given jsonb, installation bigint, delivery text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    of_number bigint := given ->> 'number';
    its_name text := given ->> 'name';
    at timestamptz := given ->> 'at';
    was text;
    next_version bigint;
BEGIN
    IF EXISTS (SELECT FROM repository r WHERE r.number = of_number AND r.name = its_name) THEN
        RETURN;
    END IF;
    LOCK TABLE repository IN SHARE ROW EXCLUSIVE MODE; -- one at a time
    SELECT r.name INTO was FROM repository r WHERE r.number = of_number;
    IF was = its_name OR repository_name_is_late(of_number, its_name, at, coalesce((given ->> 'is_rename')::boolean, false)) THEN
        RETURN;
    END IF;
    next_version := greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
                             (SELECT max(r.version) + 1 FROM repository r));
    PERFORM repository_renamed(of_number, its_name, given ->> 'former', next_version, web_url);
    UPDATE repository r SET told_at = coalesce(at, r.told_at) WHERE r.number = of_number;
    PERFORM event_send(uuid_v7(), 'events.code_host', 'repository_name', 'repository names', NULL, jsonb_build_object(
        'event', 'repository_name', 'action', 'renamed', 'repo', its_name, 'former', coalesce(was, given ->> 'former'),
        'repository_id', of_number, 'version', next_version, 'web_url', web_url, 'occurred_at', time_json(at), 'installation_id', installation,
        'delivery_id', delivery));
END $$;
