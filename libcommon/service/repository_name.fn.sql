-- Names of repositories (repository_name.h); the tables are in pg/migrations/0053_repository.sql.

-- The name that the repository has now which is, or was, called `name`. A name that is not known stays as it is.
CREATE OR REPLACE FUNCTION repository_now(name text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT r.name FROM repository_former f JOIN repository r ON r.number = f.number WHERE f.name = lower($1)), $1);
END $$;

-- The same in lower case, in which names are compared.
CREATE OR REPLACE FUNCTION repository_key(name text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN lower(repository_now(name));
END $$;

-- The name under which this schema has the repository of an event, which names it with its number: the number decides. An event can
-- be read before the one that has its new name, and after another repository has taken its former one.
CREATE OR REPLACE FUNCTION repository_named(name text, number bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT r.name FROM repository r WHERE r.number = $2), repository_now($1));
END $$;

-- Hold the guards of names, which are different ones, until the transaction ends: in the order of their hashes, as repository_lock() does.
CREATE OR REPLACE FUNCTION repository_guards_share(hashes uuid[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    held int;
BEGIN
    PERFORM FROM repository_guard g WHERE g.hash = ANY (hashes) ORDER BY g.hash FOR KEY SHARE;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held < cardinality(hashes) THEN
        INSERT INTO repository_guard (hash) SELECT h FROM unnest(hashes) AS h ORDER BY h ON CONFLICT DO NOTHING;
        PERFORM FROM repository_guard g WHERE g.hash = ANY (hashes) ORDER BY g.hash FOR KEY SHARE;
    END IF;
END $$;

-- As repository_named(), for who writes rows of the repository: its name stays as it is until the transaction ends. The name is read
-- again once its lock is held.
CREATE OR REPLACE FUNCTION repository_hold(name text, number bigint DEFAULT NULL) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    held text;
    found text := repository_named($1, number);
BEGIN
    WHILE lower(found) IS DISTINCT FROM held LOOP
        held := lower(found);
        PERFORM repository_guards_share(ARRAY[md5(held)::uuid]);
        found := repository_named($1, number);
    END LOOP;
    RETURN found;
END $$;

-- What repository_now() and repository_hold() are for a name, for several at once: in the places of the names those that they have now.
CREATE OR REPLACE FUNCTION repository_names_now(names text[]) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN ARRAY(
    SELECT coalesce(r.name, n.name)
    FROM unnest(names) WITH ORDINALITY AS n (name, place)
    LEFT JOIN repository_former f ON f.name = lower(n.name) LEFT JOIN repository r ON r.number = f.number
    ORDER BY n.place);
END $$;

CREATE OR REPLACE FUNCTION repositories_hold(names text[]) RETURNS text[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    held uuid[];
    wanted uuid[];
    found text[] := repository_names_now(names);
BEGIN
    LOOP
        wanted := ARRAY(SELECT DISTINCT md5(lower(n))::uuid FROM unnest(found) AS n ORDER BY 1);
        EXIT WHEN wanted = held;
        PERFORM repository_guards_share(wanted);
        held := wanted;
        found := repository_names_now(names);
    END LOOP;
    RETURN found;
END $$;

-- Wait for all who hold one of the names, and keep others from it.
CREATE OR REPLACE FUNCTION repository_lock(names text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO repository_guard (hash) SELECT DISTINCT md5(lower(n))::uuid FROM unnest(names) AS n ORDER BY 1 ON CONFLICT DO NOTHING;
    PERFORM FROM repository_guard g WHERE g.hash IN (SELECT md5(lower(n))::uuid FROM unnest(names) AS n) ORDER BY g.hash FOR UPDATE;
END $$;

-- A link to `old_name` at the code host, or below it, as a link to `new_name`; any other link as it is. `web_url` is the address of
-- the code host's pages.
CREATE OR REPLACE FUNCTION repository_link_moved(url text, old_name text, new_name text, web_url text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    old_link text := web_url || '/' || old_name;
    rest text := substr(url, length(old_link) + 1);
BEGIN
    IF starts_with(lower(url), lower(old_link)) AND rest ~* '^(\.git)?([/?#]|$)' THEN
        RETURN web_url || '/' || new_name || rest;
    END IF;
    RETURN url;
END $$;

-- A link to a repository by a former name, or below it, as a link by the name that it has now. Any host is taken for the code host.
CREATE OR REPLACE FUNCTION repository_link_now(url text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    m text[] := regexp_match(url, '^(https?://[^/]+/)([^/]+/[^/?#]+)(.*)$', 'i');
BEGIN
    RETURN coalesce(m[1] || repository_now(m[2]) || m[3], url);
END $$;

-- Take a repository's name, which is at the latest the one of its last event: what comes late or twice changes nothing. `former` is
-- the name before, if the code host reported it. Who uses this defines repository_move(old_name, new_name, web_url), which moves what the
-- schema has of the repository, also what was stored under the new name before that was known.
--
-- Another repository that has the name here has lost it, and what is kept of it makes room. Events about names are read in their
-- order, so that is the same everywhere. Whether anything was moved.
CREATE OR REPLACE FUNCTION repository_renamed(number bigint, new_name text, former text, version bigint, web_url text) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    was repository;
    other repository;
    old_name text;
BEGIN
    LOCK TABLE repository IN SHARE ROW EXCLUSIVE MODE; -- one at a time
    SELECT r.* INTO was FROM repository r WHERE r.number = repository_renamed.number;
    IF was.version >= version THEN
        RETURN false;
    END IF;
    old_name := coalesce(was.name, CASE WHEN NOT EXISTS (SELECT FROM repository r WHERE lower(r.name) = lower(former))
                                         AND NOT EXISTS (SELECT FROM repository_former f WHERE f.name = lower(former)) THEN former END);
    PERFORM repository_lock(array_remove(ARRAY[old_name, new_name], NULL));
    SELECT r.* INTO other FROM repository r WHERE lower(r.name) = lower(new_name) AND r.number <> repository_renamed.number;
    IF FOUND THEN
        UPDATE repository r SET name = '_/' || other.number WHERE r.number = other.number;
        PERFORM repository_move(other.name, '_/' || other.number, web_url);
    END IF;
    DELETE FROM repository_former f WHERE f.name = lower(new_name);
    INSERT INTO repository AS r (number, name, version) VALUES (number, new_name, version)
    ON CONFLICT ON CONSTRAINT repository_pkey DO UPDATE SET name = excluded.name, version = excluded.version;
    IF lower(old_name) <> lower(new_name) AND NOT starts_with(old_name, '_/') THEN
        INSERT INTO repository_former (name, number) VALUES (lower(old_name), number);
    END IF;
    IF old_name <> new_name THEN
        PERFORM repository_move(old_name, new_name, web_url);
    END IF;
    RETURN coalesce(old_name <> new_name, other.number IS NOT NULL);
END $$;

-- Forget the names of a repository, whose last account was deleted. What is kept under them stays.
CREATE OR REPLACE FUNCTION repository_forgotten(number bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE repository IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM repository_former f WHERE f.number = repository_forgotten.number;
    DELETE FROM repository r WHERE r.number = repository_forgotten.number;
END $$;
