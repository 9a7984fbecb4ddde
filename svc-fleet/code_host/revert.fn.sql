-- Merged pull requests that were reverted, and reverted reverts. Told by the words that the code host's button and `git revert` write, and in
-- any order: by the number of a pull request or by a commit, which is the same where a pull request was merged by that commit.

-- The pull request that was merged by a commit, as `#7`; the reference itself, where none is known.
CREATE OR REPLACE FUNCTION revert_name(repo text, reference text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT '#' || min(i.number) FROM code_host_item i
                     WHERE i.repo_key = repo AND i.merge_commit = reference AND i.kind = 'pull_request'), reference);
END $$;

-- The number of a pull request that is named as `#7`; null: the name is that of a commit, or of none that there can be.
CREATE OR REPLACE FUNCTION revert_number(name text) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN name ~ '^#[1-9][0-9]{0,14}$' THEN substr(name, 2)::bigint END;

-- Who reverted a pull request or commit, each by the name that the next revert calls it by. The first three.
CREATE OR REPLACE FUNCTION reverts_of(repo text, name text) RETURNS TABLE (reverter text, reverted_at timestamptz) LANGUAGE sql STABLE AS $$
    SELECT revert_name(repo, x.by), min(x.at)
    FROM code_host_revert x
    WHERE x.repo_key = repo
      AND x.target IN (SELECT name UNION SELECT i.merge_commit FROM code_host_item i
                       WHERE i.repo_key = repo AND i.kind = 'pull_request' AND i.number = revert_number(name))
    GROUP BY 1 ORDER BY 2, 1 LIMIT 3
$$;

-- What became of something that was merged: the first revert, and what undid the last one, as long as none stands. A revert that was itself
-- reverted does not stand; nobody goes on like that for more than four times.
CREATE OR REPLACE FUNCTION revert_state(repo text, name text, depth int, OUT reverted_at timestamptz, OUT reverted_by text,
                                        OUT reapplied_at timestamptz, OUT reapplied_by text) LANGUAGE plpgsql STABLE AS $$
DECLARE
    r record;
    undone_at timestamptz;
    undone_by text;
    stands boolean := false;
BEGIN
    FOR r IN SELECT * FROM reverts_of(repo, name) LOOP
        IF reverted_at IS NULL THEN
            reverted_at := r.reverted_at;
            reverted_by := r.reverter;
        END IF;
        SELECT s.reverted_at, s.reverted_by INTO undone_at, undone_by
        FROM revert_state(repo, r.reverter, depth + 1) s WHERE depth < 4 AND s.reapplied_at IS NULL;
        IF undone_at IS NULL THEN
            stands := true;
        ELSIF reapplied_at IS NULL OR undone_at > reapplied_at THEN
            reapplied_at := undone_at;
            reapplied_by := undone_by;
        END IF;
    END LOOP;
    IF stands THEN
        reapplied_at := NULL;
        reapplied_by := NULL;
    END IF;
END $$;

-- The address of a pull request or commit in the repository of another pull request.
CREATE OR REPLACE FUNCTION revert_address(pull_request text, name text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN regexp_replace(pull_request, '/pull/[0-9]+.*$', CASE WHEN name LIKE '#%' THEN '/pull/' || substr(name, 2) ELSE '/commit/' || name END);

-- Let an account's merged pull requests of a repository, or one of them, have what is known of their reverts. Locks the rows in the order
-- of their key.
CREATE OR REPLACE FUNCTION deliverables_revert(account uuid, repo text, of_number bigint DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM code_host_revert r WHERE r.repo_key = $2) THEN
        RETURN;
    END IF;
    PERFORM FROM deliverable d
    WHERE d.account_id = account AND d.repo_key = $2 AND d.kind = 'pull_request' AND (of_number IS NULL OR d.number = of_number)
    ORDER BY d.url FOR UPDATE;
    UPDATE deliverable d SET (reverted_at, reverted_by, reapplied_at, reapplied_by) = (
        s.reverted_at, revert_address(d.url, s.reverted_by), s.reapplied_at, revert_address(d.url, s.reapplied_by))
    FROM deliverable x, revert_state($2, '#' || x.number, 0) s
    WHERE x.account_id = account AND x.repo_key = $2 AND x.kind = 'pull_request' AND x.stage = 'merged' AND (of_number IS NULL OR x.number = of_number)
      AND d.account_id = account AND d.url = x.url
      AND (d.reverted_at, d.reverted_by, d.reapplied_at, d.reapplied_by)
          IS DISTINCT FROM (s.reverted_at, revert_address(d.url, s.reverted_by), s.reapplied_at, revert_address(d.url, s.reapplied_by));
END $$;

-- What an event of the code host says beside the state of a pull request: by which commit it was merged, and what it or a push reverts.
-- `reverts`: [{"target", "by"}]; null: nothing. A run that is reporting a pull request holds its place in code_host_item: whoever comes
-- second of the two sees what the other wrote. A revert may concern all of the repository that the code host has told of, as no other is known
-- to be merged; one statement locks them in the order of their key, so nothing of them may be locked before. An event that says nothing new
-- ends there.
CREATE OR REPLACE FUNCTION reverts_note(repo text, of_number bigint, merge_commit text, reverts jsonb, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    owner uuid;
BEGIN
    PERFORM repo_lock($1);
    INSERT INTO code_host_item AS known (repo_key, kind, number, merge_commit)
    SELECT lower($1), 'pull_request', x.number, CASE WHEN x.number = $2 THEN $3 END
    FROM (SELECT $2 AS number WHERE $2 IS NOT NULL
          UNION SELECT i.number FROM code_host_item i WHERE $4 IS NOT NULL AND i.repo_key = lower($1) AND i.kind = 'pull_request'
                                                                      AND (i.state IS NOT NULL OR i.merge_commit IS NOT NULL)) x
    ORDER BY x.number
    ON CONFLICT (repo_key, kind, number) DO UPDATE SET merge_commit = excluded.merge_commit
    WHERE excluded.merge_commit <> coalesce(known.merge_commit, ''); -- the others are locked all the same, and not written
    IF NOT FOUND AND $4 IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO code_host_revert AS known (repo_key, target, by, at)
    SELECT DISTINCT ON (r.target, r.by) lower($1), r.target, r.by, $5
    FROM jsonb_to_recordset(coalesce($4, '[]')) AS r (target text, by text) ORDER BY r.target, r.by
    ON CONFLICT (repo_key, target, by) DO UPDATE SET at = least(known.at, excluded.at);
    FOR owner IN SELECT o.account_id FROM owned_repo o WHERE o.repo_key = lower($1) ORDER BY 1 LOOP
        PERFORM deliverables_revert(owner, lower($1));
    END LOOP;
END $$;
