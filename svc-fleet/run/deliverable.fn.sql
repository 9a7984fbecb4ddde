-- What runs opened, and what became of it.

-- The item that a link names, https://HOST/OWNER/NAME/pull/17: kind, number and repository; `other` without a number for any other link. In
-- PL/pgSQL, which keeps the plan.
CREATE OR REPLACE FUNCTION artifact_of(url text, OUT kind text, OUT repo_key text, OUT number bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    part text[] := string_to_array(url, '/');
    digits text;
BEGIN
    IF part[1] IN ('http:', 'https:') AND part[2] = '' AND '' <> ALL (part[3:5]) AND part[6] IN ('pull', 'issues') THEN
        digits := substring(part[7] FROM '^([0-9]{1,15})(?:[?#]|$)');
    END IF;
    kind := CASE WHEN digits IS NULL THEN 'other' WHEN part[6] = 'pull' THEN 'pull_request' ELSE 'issue' END;
    repo_key := CASE WHEN digits IS NOT NULL THEN repository_key(part[4] || '/' || part[5]) END; -- a link may have a former name
    number := digits::bigint;
END $$;

-- What the code host told of a pull request, as far as the account may know it: of one that a run of its opened, and of any of a repository
-- that it owns. `stage` null: nothing.
CREATE OR REPLACE FUNCTION pull_request_told(account uuid, link text, OUT repo_key text, OUT number bigint, OUT stage text,
                                             OUT opened_at timestamptz, OUT closed_at timestamptz, OUT reverted_at timestamptz,
                                             OUT reverted_by text, OUT reapplied_at timestamptz, OUT reapplied_by text) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    SELECT d.repo_key, d.number, d.stage, d.opened_at, d.closed_at, d.reverted_at, d.reverted_by, d.reapplied_at, d.reapplied_by
    INTO repo_key, number, stage, opened_at, closed_at, reverted_at, reverted_by, reapplied_at, reapplied_by
    FROM deliverable d WHERE d.account_id = account AND d.url = link AND d.kind = 'pull_request' AND d.stage <> 'open';
    IF NOT FOUND THEN
        SELECT i.repo_key, i.number, i.state, i.opened_at, CASE WHEN i.state <> 'open' THEN coalesce(i.closed_at, i.told_at) END,
               r.reverted_at, revert_address(link, r.reverted_by), r.reapplied_at, revert_address(link, r.reapplied_by)
        INTO repo_key, number, stage, opened_at, closed_at, reverted_at, reverted_by, reapplied_at, reapplied_by
        FROM artifact_of(link) a
        JOIN owned_repo o ON o.account_id = account AND o.repo_key = a.repo_key
        JOIN code_host_item i ON i.repo_key = a.repo_key AND i.kind = a.kind AND i.number = a.number
        LEFT JOIN LATERAL revert_state(i.repo_key, '#' || i.number, 0) r ON i.state = 'merged'
        WHERE a.kind = 'pull_request' AND i.state IS NOT NULL;
    END IF;
END $$;

-- Whether an account may know that a pull request was merged.
CREATE OR REPLACE FUNCTION pull_request_is_merged(account uuid, link text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((pull_request_told(account, link)).stage = 'merged', false);
END $$;

-- What becomes of deliverables goes out on events.runs: what each is, what it was made for, and its stage, which is
-- `withdrawn` when no run names it any more.
CREATE OR REPLACE FUNCTION deliverable_emit(d deliverable, stage text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.runs', 'deliverable.' || stage, d.account_id, jsonb_build_object(
        'version', nextval('deliverable_version'), 'url', d.url, 'kind', d.kind, 'repo', d.repo, 'stage', stage,
        'run_id', d.run_id, 'interest_id', d.interest_id, 'recommendation_id', d.recommendation_id, 'arxiv_id', d.arxiv_id,
        'reverted_at', time_json(d.reverted_at), 'reapplied_at', time_json(d.reapplied_at)));
END $$;

-- One that was reverted stays `merged`, but others hear that it is `reverted` until it is merged again.
CREATE OR REPLACE FUNCTION deliverable_emit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM deliverable_emit(NEW, CASE WHEN NEW.reverted_at IS NOT NULL AND NEW.reapplied_at IS NULL THEN 'reverted' ELSE NEW.stage END);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER deliverable_made AFTER INSERT ON deliverable FOR EACH ROW EXECUTE FUNCTION deliverable_emit_change();
CREATE OR REPLACE TRIGGER deliverable_changed AFTER UPDATE ON deliverable FOR EACH ROW
    WHEN ((OLD.kind, OLD.stage, OLD.reverted_at, OLD.reapplied_at, OLD.run_id, OLD.interest_id, OLD.recommendation_id, OLD.arxiv_id)
          IS DISTINCT FROM
          (NEW.kind, NEW.stage, NEW.reverted_at, NEW.reapplied_at, NEW.run_id, NEW.interest_id, NEW.recommendation_id, NEW.arxiv_id))
    EXECUTE FUNCTION deliverable_emit_change();

-- Give an account's deliverables of a repository, or one of them, the state that the code host reported, if the account owns
-- the repository. Locks the rows in the order of their key.
CREATE OR REPLACE FUNCTION deliverable_reconcile(account uuid, repo text, of_kind text DEFAULT NULL, of_number bigint DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = $2) THEN
        RETURN;
    END IF;
    PERFORM FROM deliverable d
    WHERE d.account_id = account AND d.repo_key = $2 AND d.number IS NOT NULL
      AND (of_number IS NULL OR (d.kind = of_kind AND d.number = of_number))
    ORDER BY d.url FOR UPDATE;
    UPDATE deliverable d SET
        opened_at = coalesce(i.opened_at, d.opened_at), stage = i.state,
        closed_at = CASE WHEN i.state <> 'open' THEN coalesce(i.closed_at, i.told_at) END
    FROM code_host_item i
    WHERE d.account_id = account AND d.repo_key = $2 AND i.repo_key = $2 AND i.kind = d.kind AND i.number = d.number
      AND i.state IS NOT NULL AND (of_number IS NULL OR (d.kind = of_kind AND d.number = of_number));
    IF of_kind IS DISTINCT FROM 'issue' THEN
        PERFORM deliverables_revert(account, $2, of_number);
    END IF;
END $$;

-- Note what runs opened: of several runs that name one link, the earliest. A pull request or issue is that of a run of its repository as
-- soon as one names it: the key of another repository, which may report any link, cannot take it, whatever time it tells.
CREATE OR REPLACE FUNCTION deliverable_open(opened run[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO deliverable AS d (account_id, url, kind, repo_key, repo, number, run_id, run_at, opened_at, interest_id,
                                  recommendation_id, arxiv_id)
    SELECT DISTINCT ON (r.account_id, r.artifact_url) r.account_id, r.artifact_url,
           CASE WHEN a.repo_key = r.repo_key THEN a.kind ELSE 'other' END, r.repo_key, r.repo,
           CASE WHEN a.repo_key = r.repo_key THEN a.number END, r.run_id, r.at, coalesce(r.finished_at, r.at), r.interest_id,
           r.record ->> 'recommendation_id', r.arxiv_id
    FROM unnest(opened) r, artifact_of(r.artifact_url) a
    ORDER BY r.account_id, r.artifact_url, (a.repo_key = r.repo_key) IS NOT TRUE, r.at, r.run_id
    ON CONFLICT (account_id, url) DO UPDATE
    SET kind = excluded.kind, repo_key = excluded.repo_key, repo = excluded.repo, number = excluded.number,
        run_id = excluded.run_id, run_at = excluded.run_at,
        opened_at = CASE WHEN excluded.kind <> d.kind OR (excluded.run_at, excluded.run_id) < (d.run_at, d.run_id) THEN excluded.opened_at
                         ELSE d.opened_at END,
        interest_id = excluded.interest_id, recommendation_id = excluded.recommendation_id, arxiv_id = excluded.arxiv_id
    WHERE CASE WHEN excluded.kind = d.kind THEN (excluded.run_at, excluded.run_id) <= (d.run_at, d.run_id) ELSE d.kind = 'other' END;
    PERFORM deliverable_reconcile(r.account_id, r.repo_key, d.kind, d.number)
    FROM unnest(opened) r
    JOIN deliverable d ON d.account_id = r.account_id AND d.url = r.artifact_url AND d.repo_key = r.repo_key
    JOIN code_host_item i ON i.repo_key = d.repo_key AND i.kind = d.kind AND i.number = d.number AND i.state IS NOT NULL;
END $$;

-- A run that no longer names a link: the earliest other run that does is its origin now, or it is withdrawn.
CREATE OR REPLACE FUNCTION deliverable_leave(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    left_behind deliverable;
BEGIN
    DELETE FROM deliverable d WHERE d.account_id = r.account_id AND d.url = r.artifact_url AND d.run_id = r.run_id
                                AND d.repo_key = r.repo_key
    RETURNING * INTO left_behind;
    IF FOUND THEN
        PERFORM deliverable_emit(left_behind, 'withdrawn');
        PERFORM deliverable_open(ARRAY(SELECT x FROM run x, artifact_of(r.artifact_url) a
                                       WHERE x.account_id = r.account_id AND x.artifact_url = r.artifact_url
                                       ORDER BY (a.repo_key = x.repo_key) IS NOT TRUE, x.at, x.run_id LIMIT 1));
    END IF;
END $$;

-- Let the deliverables follow the changes, after `run` has them. The place of what the code host may report is held first, also
-- for links to other repositories, so that who reports it waits. An account that does not own the repository is told nothing of it: it makes
-- no places there, of which any number would be kept, and becomes an owner with a look at all that it has of the repository.
CREATE OR REPLACE FUNCTION deliverables_follow(changes run_change[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
    opened run[] := '{}';
    left_behind run[] := '{}';
    one record;
BEGIN
    FOREACH c IN ARRAY changes LOOP
        IF (c.was).artifact_url IS NOT NULL AND ((c.was).artifact_url, (c.was).at, (c.was).finished_at)
                IS DISTINCT FROM ((c.became).artifact_url, (c.became).at, (c.became).finished_at) THEN
            left_behind := left_behind || c.was;
        END IF;
        IF (c.became).artifact_url IS NOT NULL AND (
                (c.was).artifact_url, (c.was).at, (c.was).finished_at, (c.was).interest_id, (c.was).arxiv_id,
                (c.was).record ->> 'recommendation_id') IS DISTINCT FROM (
                (c.became).artifact_url, (c.became).at, (c.became).finished_at, (c.became).interest_id, (c.became).arxiv_id,
                (c.became).record ->> 'recommendation_id') THEN
            opened := opened || c.became;
        END IF;
    END LOOP;
    IF cardinality(opened || left_behind) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO code_host_item AS i (repo_key, kind, number)
    SELECT DISTINCT a.repo_key, a.kind, a.number FROM unnest(opened || left_behind) r, artifact_of(r.artifact_url) a
    WHERE a.number IS NOT NULL AND EXISTS (SELECT FROM owned_repo o WHERE o.account_id = r.account_id AND o.repo_key = a.repo_key) ORDER BY 1, 2, 3
    ON CONFLICT (repo_key, kind, number) DO UPDATE SET state = i.state;
    IF cardinality(left_behind) = 0 THEN
        PERFORM deliverable_open(opened);
        RETURN;
    END IF;
    FOR one IN SELECT DISTINCT r.account_id, r.artifact_url FROM unnest(opened || left_behind) r ORDER BY 1, 2 LOOP
        PERFORM deliverable_leave(r) FROM unnest(left_behind) r
        WHERE r.account_id = one.account_id AND r.artifact_url = one.artifact_url;
        PERFORM deliverable_open(ARRAY(SELECT r FROM unnest(opened) r
                                       WHERE r.account_id = one.account_id AND r.artifact_url = one.artifact_url));
    END LOOP;
END $$;
