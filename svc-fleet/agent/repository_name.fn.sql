-- What is kept of repositories follows when they are renamed (service/repository_name.h).

-- Updates of runs, as runs_update() takes them, under the names that their repositories have now, which stay so until the transaction
-- ends; links to what runs opened have them, too, so that a pull request has one link.
CREATE OR REPLACE FUNCTION run_updates_held(updates jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    names text[] := ARRAY(SELECT DISTINCT t ->> 'repo' FROM jsonb_array_elements(updates) AS t);
    names_now text[] := repositories_hold(names);
BEGIN
    IF names = names_now AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(updates) AS t
        WHERE repository_link_now(t #>> '{report,artifact_url}') <> t #>> '{report,artifact_url}') THEN
        RETURN updates;
    END IF;
    RETURN (
        SELECT jsonb_agg(jsonb_set(CASE WHEN link.now IS NULL THEN x.t ELSE jsonb_set(x.t, '{report,artifact_url}', to_jsonb(link.now)) END,
                                   '{repo}', to_jsonb(names_now[array_position(names, x.t ->> 'repo')])) ORDER BY x.place)
        FROM jsonb_array_elements(updates) WITH ORDINALITY AS x (t, place),
             repository_link_now(x.t #>> '{report,artifact_url}') AS link (now));
END $$;

-- Take out these runs of the account on the repository, and return them as runs_update() takes them; and the sums over all its runs there.
CREATE OR REPLACE FUNCTION runs_taken_out(account uuid, key text, run_keys text[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    gone run[] := ARRAY(SELECT r FROM run_key k JOIN run r ON r.id = k.id AND r.first_at = k.first_at
                        WHERE k.account_id = account AND k.repo_key = key AND k.run_key = ANY (run_keys));
    taken jsonb;
BEGIN
    SELECT jsonb_agg(jsonb_build_object('account', account, 'repo', r.repo, 'run_id', r.run_id) || told.part ORDER BY r.at, r.id, told.place)
    INTO taken
    FROM unnest(gone) r LEFT JOIN run_detail d ON d.id = r.id AND d.first_at = r.first_at
    CROSS JOIN LATERAL (VALUES
        (1, jsonb_build_object('report', jsonb_strip_nulls(r.record), 'detail', coalesce(d.detail, '{}'))),
        (2, jsonb_build_object('host', jsonb_build_object('state', r.host_state, 'outcome', r.host_outcome,
                                                          'told_at', r.host_told_at)))) AS told (place, part)
    WHERE told.place = 1 OR r.host_state IS NOT NULL;
    DELETE FROM run_detail d USING unnest(gone) r WHERE d.id = r.id AND d.first_at = r.first_at;
    DELETE FROM run_text t USING unnest(gone) r WHERE t.run = r.id;
    DELETE FROM candidate c USING unnest(gone) r WHERE c.run = r.id;
    PERFORM budget_period_add(ARRAY(SELECT (r, NULL)::run_change FROM unnest(gone) r));
    DELETE FROM run x USING unnest(gone) r WHERE x.id = r.id AND x.first_at = r.first_at;
    DELETE FROM run_key k WHERE k.account_id = account AND k.repo_key = key AND k.run_key = ANY (run_keys);
    DELETE FROM run_repo s WHERE s.account_id = account AND s.repo_key = key;
    DELETE FROM run_agent s WHERE s.account_id = account AND s.repo_key = key;
    DELETE FROM run_day s WHERE s.account_id = account AND s.repo_key = key;
    RETURN coalesce(taken, '[]');
END $$;

-- The attempts of a run that both names have: `former` and `later` as they were, `merged` as it is after the last one was reported once more.
CREATE OR REPLACE FUNCTION run_attempts_joined(former run, later run, merged jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_object_agg(x.key, CASE WHEN x.count > 1 AND x.key = coalesce(later.record ->> 'run_attempt', '1')
                                        THEN coalesce(merged -> x.key, x.value) ELSE x.value END)
    FROM (SELECT DISTINCT ON (a.key) a.key, a.value, count(*) OVER (PARTITION BY a.key)
          FROM (SELECT * FROM jsonb_each(spend_dated(spend_attempts(former), former.at))
                UNION ALL SELECT * FROM jsonb_each(spend_dated(spend_attempts(later), later.at))) AS a
          ORDER BY a.key, (a.value ->> 'reported_at')::bigint DESC) x
$$;

-- Give runs that both names have what their attempts cost under either: a record has the cost of the last one alone.
CREATE OR REPLACE FUNCTION run_attempts_join(formers run[], laters run[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    former run;
    was run;
    r run;
    changes run_change[] := '{}';
BEGIN
    FOREACH former IN ARRAY formers LOOP
        SELECT x.* INTO was FROM run x WHERE x.id = former.id AND x.first_at = former.first_at;
        r := was;
        SELECT run_attempts_joined(former, n, was.attempts) INTO r.attempts FROM unnest(laters) n
        WHERE n.run_id #>> '{}' = former.run_id #>> '{}';
        r := spend_sum(r);
        CONTINUE WHEN r.attempts IS NOT DISTINCT FROM was.attempts;
        UPDATE run x SET attempts = r.attempts, spend_usd = r.spend_usd, spend_basis = r.spend_basis, price_date = r.price_date,
            changed_at = clock_timestamp()
        WHERE x.id = r.id AND x.first_at = r.first_at;
        changes := changes || (was, r)::run_change;
    END LOOP;
    PERFORM budget_period_add(changes) WHERE cardinality(changes) > 0;
END $$;

-- Move the runs of an account, with all that is added up of them. Those that were reported under the new name before it was known stay as
-- they are; of those that both names have, what was reported under the new one is applied once more. Nobody else reports of either
-- repository meanwhile.
CREATE OR REPLACE FUNCTION runs_move(account uuid, old_name text, new_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old_key text := lower(old_name);
    new_key text := lower(new_name);
    twice text[] := ARRAY(
        SELECT n.run_key FROM run_key n JOIN run_key o ON o.account_id = account AND o.repo_key = old_key AND o.run_key = n.run_key
        WHERE n.account_id = account AND n.repo_key = new_key AND old_key <> new_key);
    formers run[] := ARRAY(SELECT r FROM run_key k JOIN run r ON r.id = k.id AND r.first_at = k.first_at
                           WHERE k.account_id = account AND k.repo_key = old_key AND k.run_key = ANY (twice));
    laters run[] := ARRAY(SELECT r FROM run_key k JOIN run r ON r.id = k.id AND r.first_at = k.first_at
                          WHERE k.account_id = account AND k.repo_key = new_key AND k.run_key = ANY (twice));
    moved jsonb := '[]';
    stay run_change[] := '{}';
BEGIN
    IF old_key <> new_key THEN
        moved := runs_taken_out(account, new_key, twice);
        stay := ARRAY(SELECT (NULL, r)::run_change FROM run r WHERE r.account_id = account AND r.repo_key = new_key);
    END IF;
    UPDATE run_key k SET repo_key = new_key WHERE k.account_id = account AND k.repo_key = old_key;
    UPDATE run r SET repo_key = new_key, repo = new_name, changed_at = clock_timestamp(), artifact_url = repository_link_now(r.artifact_url),
        record = CASE WHEN r.artifact_url IS NULL THEN r.record
                      ELSE jsonb_set(r.record, '{artifact_url}', to_jsonb(repository_link_now(r.artifact_url))) END
    WHERE r.account_id = account AND r.repo_key = old_key;
    UPDATE run_repo s SET repo_key = new_key, repo = new_name WHERE s.account_id = account AND s.repo_key = old_key;
    UPDATE run_agent s SET repo_key = new_key WHERE s.account_id = account AND s.repo_key = old_key;
    UPDATE cost_unusual u SET repo_key = new_key, repo = new_name WHERE u.account_id = account AND u.repo_key = old_key;
    UPDATE run_day s SET repo_key = new_key WHERE s.account_id = account AND s.repo_key = old_key;
    DELETE FROM run_removed x WHERE x.account_id = account AND x.repo_key = old_key AND old_key <> new_key
        AND EXISTS (SELECT FROM run_removed o WHERE o.account_id = account AND o.repo_key = new_key AND o.run_key = x.run_key);
    UPDATE run_removed x SET repo_key = new_key WHERE x.account_id = account AND x.repo_key = old_key;
    IF cardinality(stay) > 0 THEN
        PERFORM run_repo_add(stay), run_agent_add(stay), run_day_add(stay), deliverables_follow(stay);
    END IF;
    IF cardinality(twice) > 0 THEN
        PERFORM runs_update(moved);
        PERFORM run_attempts_join(formers, laters);
    END IF;
    PERFORM budgets_recount(account, new_key) WHERE old_key <> new_key;
END $$;

-- Move an account's deliverables, of which each is announced under its link now; of two that have one link then, the earlier stays. What
-- is archived in the inbox stays so.
CREATE OR REPLACE FUNCTION deliverables_move(account uuid, old_key text, new_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO inbox_archived (account_id, item, archived_at)
    SELECT account, inbox_id(d.kind || '_waiting', repository_link_now(d.url)), a.archived_at
    FROM deliverable d JOIN inbox_archived a ON a.account_id = account AND a.item = inbox_id(d.kind || '_waiting', d.url)
    WHERE d.account_id = account AND d.repo_key = old_key
    ON CONFLICT DO NOTHING;
    DELETE FROM deliverable d USING deliverable old
    WHERE old.account_id = account AND old.repo_key = old_key AND d.account_id = account
      AND d.url = repository_link_now(old.url) AND d.url <> old.url;
    UPDATE deliverable d SET repo_key = lower(new_name), repo = new_name, url = repository_link_now(d.url)
    WHERE d.account_id = account AND d.repo_key = old_key;
END $$;

-- Move an account's installations on the repository. Of two that are active for one interest, the later took the place of the other.
CREATE OR REPLACE FUNCTION installations_move(account uuid, old_name text, new_name text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE installation i SET status = 'revoked', revoked_at = now()
    FROM installation later
    WHERE i.account_id = account AND later.account_id = account AND i.status = 'active' AND later.status = 'active'
      AND i.interest_id IS NOT DISTINCT FROM later.interest_id AND i.id < later.id
      AND i.repo_key IN (lower(old_name), lower(new_name)) AND later.repo_key IN (lower(old_name), lower(new_name));
    UPDATE installation i SET repo_key = lower(new_name), repo = new_name,
        setup_url = repository_link_moved(i.setup_url, old_name, new_name, web_url)
    WHERE i.account_id = account AND i.repo_key = lower(old_name);
END $$;

-- Move what is known of an account's access. Whether it goes on under the new name, which another account may have, is asked again.
CREATE OR REPLACE FUNCTION repo_access_move(account uuid, old_name text, new_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old_key text := lower(old_name);
    new_key text := lower(new_name);
    known repo_access;
BEGIN
    DELETE FROM owned_repo o WHERE o.account_id = account AND o.repo_key = old_key;
    IF FOUND THEN
        INSERT INTO owned_repo (account_id, repo_key) VALUES (account, new_key) ON CONFLICT DO NOTHING;
    END IF;
    DELETE FROM repo_access a WHERE a.account_id = account AND a.repo_key = old_key RETURNING * INTO known;
    IF FOUND THEN
        INSERT INTO repo_access (account_id, repo_key, asked_at, lost_at, repo, href)
        VALUES (account, new_key, '-infinity', known.lost_at, CASE WHEN known.lost_at IS NOT NULL THEN new_name END,
                left(known.href, -length(known.repo)) || new_name)
        ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- Move pull requests and issues, and what the code host reported of them under either name.
CREATE OR REPLACE FUNCTION code_host_items_move(old_key text, new_key text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF old_key = new_key THEN
        RETURN;
    END IF;
    INSERT INTO code_host_item AS i (repo_key, kind, number, state, opened_at, closed_at, told_at, merge_commit)
    SELECT new_key, o.kind, o.number, o.state, o.opened_at, o.closed_at, o.told_at, o.merge_commit FROM code_host_item o
    WHERE o.repo_key = old_key
    ORDER BY o.kind, o.number
    ON CONFLICT (repo_key, kind, number) DO UPDATE SET
        state = CASE WHEN excluded.told_at > i.told_at OR i.told_at IS NULL THEN excluded.state ELSE i.state END,
        opened_at = least(i.opened_at, excluded.opened_at), closed_at = greatest(i.closed_at, excluded.closed_at),
        told_at = greatest(i.told_at, excluded.told_at), merge_commit = coalesce(i.merge_commit, excluded.merge_commit);
    DELETE FROM code_host_item o WHERE o.repo_key = old_key;
    INSERT INTO code_host_revert (repo_key, target, by, at)
    SELECT new_key, o.target, o.by, o.at FROM code_host_revert o WHERE o.repo_key = old_key
    ON CONFLICT DO NOTHING;
    DELETE FROM code_host_revert o WHERE o.repo_key = old_key;
END $$;

-- An account that is deleted meanwhile has nothing left to move once its lock is held.
CREATE OR REPLACE FUNCTION repository_move(old_name text, new_name text, web_url text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old_key text := lower(old_name);
    new_key text := lower(new_name);
    account uuid;
BEGIN
    PERFORM code_host_items_move(old_key, new_key);
    FOR account IN
        SELECT s.account_id FROM run_repo s WHERE s.repo_key = old_key
        UNION SELECT i.account_id FROM installation i WHERE i.repo_key = old_key
        UNION SELECT o.account_id FROM owned_repo o WHERE o.repo_key = old_key
        UNION SELECT a.account_id FROM repo_access a WHERE a.repo_key = old_key
        UNION SELECT x.account_id FROM run_removed x WHERE x.repo_key = old_key
        UNION SELECT d.account_id FROM deliverable d WHERE d.repo_key = old_key
        UNION SELECT b.account_id FROM budget b WHERE b.scope = 'repo' AND b.target = old_key
        ORDER BY 1
    LOOP
        PERFORM account_lock(account, false);
        CONTINUE WHEN EXISTS (SELECT FROM deleted_account d WHERE d.id = account);
        PERFORM deliverables_move(account, old_key, new_name);
        PERFORM budgets_move(account, old_name, new_name);
        PERFORM runs_move(account, old_name, new_name);
        PERFORM installations_move(account, old_name, new_name, web_url);
        PERFORM repo_access_move(account, old_name, new_name);
    END LOOP;
    DELETE FROM repo_fetch f WHERE f.repo_key = old_key;
    DELETE FROM run_status s WHERE s.repo_key = new_key AND old_key <> new_key
        AND EXISTS (SELECT FROM run_status o WHERE o.repo_key = old_key AND o.account_id IS NOT DISTINCT FROM s.account_id);
    UPDATE run_status s SET repo_key = new_key WHERE s.repo_key = old_key;
END $$;
