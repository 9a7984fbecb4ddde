-- What runs opened, pull requests and issues, and what became of them.
--
-- That a run opened one is known from its telemetry. What became of it is known from the code host, whose events name no
-- account: they are kept apart, in `code_host_item`, and are shown only to accounts that own the repository
-- (`owned_repo`). Either may arrive first.

-- Repositories that an account owns, as provisioning or the code host has said: the automation key of a run carries it.
-- Anybody may name a repository in a key of his own, which proves nothing.
CREATE TABLE owned_repo (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo_key)
);

CREATE INDEX owned_repo_accounts ON owned_repo (repo_key);
CREATE TRIGGER account_skipped BEFORE INSERT ON owned_repo FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Whoever adds an owner and whoever tells of the repository wait for each other, so that neither misses what the other adds.
CREATE TABLE repo_guard (
    repo_key text PRIMARY KEY CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600)
);

CREATE FUNCTION repo_lock(repo text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO repo_guard (repo_key) VALUES (lower(repo)) ON CONFLICT (repo_key) DO UPDATE SET repo_key = excluded.repo_key
$$;

-- A pull request or issue as the code host's events tell of it. A row without `state` only holds the place, so that an
-- event and a report that arrive at the same time wait for each other.
--
--   state      by the event that happened last, `told_at`, in whatever order they arrive
--   opened_at  the earliest that was told; closed_at the latest
CREATE TABLE code_host_item (
    repo_key  text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    kind      text NOT NULL CHECK (kind IN ('pull_request', 'issue')),
    number    bigint NOT NULL,
    state     text CHECK (state IN ('open', 'closed', 'merged')),
    opened_at timestamptz,
    closed_at timestamptz,
    told_at   timestamptz,
    PRIMARY KEY (repo_key, kind, number)
);

--   run_*      the earliest run that named it
--   opened_at  as the code host said, else when that run ended
--   stage      `open` until the code host says otherwise
--   closed_at  also of a merged one
--   interest_id, recommendation_id, arxiv_id  what the run said that it was made for
CREATE TABLE deliverable (
    account_id        uuid NOT NULL,
    url               text NOT NULL,
    kind              text NOT NULL CHECK (kind IN ('pull_request', 'issue', 'other')),
    repo_key          text NOT NULL,
    repo              text NOT NULL,
    number            bigint,
    run_id            jsonb NOT NULL,
    run_at            timestamptz NOT NULL,
    opened_at         timestamptz NOT NULL,
    stage             text NOT NULL DEFAULT 'open' CHECK (stage IN ('open', 'closed', 'merged')),
    closed_at         timestamptz,
    interest_id       text,
    recommendation_id text,
    arxiv_id          text,
    PRIMARY KEY (account_id, url)
);

CREATE INDEX deliverable_newest ON deliverable (account_id, opened_at DESC, url) INCLUDE (repo_key, kind, stage);
CREATE INDEX deliverable_closed ON deliverable (account_id, closed_at) INCLUDE (repo_key, kind, stage, opened_at)
    WHERE closed_at IS NOT NULL;
CREATE INDEX deliverable_item ON deliverable (repo_key, kind, number);
CREATE INDEX deliverable_open ON deliverable (account_id, opened_at) WHERE stage = 'open' AND kind <> 'other';

-- The item that a link names: kind, number and repository; `other` without a number for any other link.
CREATE FUNCTION artifact_of(url text, OUT kind text, OUT repo_key text, OUT number bigint) LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN m[2] IS NULL THEN 'other' WHEN m[2] = 'pull' THEN 'pull_request' ELSE 'issue' END, lower(m[1]),
           m[3]::bigint
    FROM (SELECT regexp_match(url, '^https?://[^/]+/([^/]+/[^/]+)/(pull|issues)/([0-9]{1,15})(?:[/?#].*)?$')) AS match (m)
$$;

-- Give an account's deliverables of a repository, or one of them, the state that the code host told, if the account owns
-- the repository.
CREATE FUNCTION deliverable_settle(account uuid, repo text, of_kind text DEFAULT NULL, of_number bigint DEFAULT NULL)
RETURNS void LANGUAGE sql AS $$
    UPDATE deliverable d SET
        opened_at = coalesce(i.opened_at, d.opened_at), stage = i.state,
        closed_at = CASE WHEN i.state <> 'open' THEN coalesce(i.closed_at, i.told_at) END
    FROM code_host_item i
    WHERE d.account_id = account AND d.repo_key = repo AND i.repo_key = repo AND i.kind = d.kind AND i.number = d.number
      AND i.state IS NOT NULL AND (of_number IS NULL OR (d.kind = of_kind AND d.number = of_number))
      AND EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = repo)
$$;

-- What becomes of a deliverable goes out on events.runs: what it is, what it was made for, and its stage, which is
-- `withdrawn` when no run names it any more.
--
--   version  rises with each event about the same link
CREATE SEQUENCE deliverable_version;

CREATE FUNCTION deliverable_tell(d deliverable, stage text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.runs', 'deliverable.' || stage, d.account_id, jsonb_build_object(
        'version', nextval('deliverable_version'), 'url', d.url, 'kind', d.kind, 'repo', d.repo, 'stage', stage,
        'run_id', d.run_id, 'interest_id', d.interest_id, 'recommendation_id', d.recommendation_id, 'arxiv_id', d.arxiv_id));
END $$;

CREATE FUNCTION deliverable_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM deliverable_tell(NEW, NEW.stage);
    RETURN NULL;
END $$;

CREATE TRIGGER deliverable_made AFTER INSERT ON deliverable FOR EACH ROW EXECUTE FUNCTION deliverable_told();
CREATE TRIGGER deliverable_changed AFTER UPDATE ON deliverable FOR EACH ROW
    WHEN ((OLD.stage, OLD.run_id, OLD.interest_id, OLD.recommendation_id, OLD.arxiv_id)
          IS DISTINCT FROM (NEW.stage, NEW.run_id, NEW.interest_id, NEW.recommendation_id, NEW.arxiv_id))
    EXECUTE FUNCTION deliverable_told();

-- Note what a run opened.
CREATE FUNCTION deliverable_open(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    a record;
BEGIN
    SELECT * INTO a FROM artifact_of(r.artifact_url);
    IF a.repo_key IS DISTINCT FROM r.repo_key THEN
        a.kind := 'other';
        a.number := NULL;
    END IF;
    IF a.number IS NOT NULL THEN
        INSERT INTO code_host_item AS i (repo_key, kind, number) VALUES (a.repo_key, a.kind, a.number)
        ON CONFLICT (repo_key, kind, number) DO UPDATE SET state = i.state;
    END IF;
    INSERT INTO deliverable AS d (account_id, url, kind, repo_key, repo, number, run_id, run_at, opened_at, interest_id,
                                  recommendation_id, arxiv_id)
    VALUES (r.account_id, r.artifact_url, a.kind, r.repo_key, r.repo, a.number, r.run_id, r.at,
            coalesce(r.finished_at, r.at), r.interest_id, r.record ->> 'recommendation_id', r.arxiv_id)
    ON CONFLICT (account_id, url) DO UPDATE
    SET run_id = excluded.run_id, run_at = excluded.run_at,
        opened_at = CASE WHEN (excluded.run_at, excluded.run_id) < (d.run_at, d.run_id) THEN excluded.opened_at
                         ELSE d.opened_at END,
        interest_id = excluded.interest_id, recommendation_id = excluded.recommendation_id, arxiv_id = excluded.arxiv_id
    WHERE (excluded.run_at, excluded.run_id) <= (d.run_at, d.run_id);
    PERFORM deliverable_settle(r.account_id, r.repo_key, a.kind, a.number) WHERE a.number IS NOT NULL;
END $$;

-- A run that no longer names a link: another run that does is its origin now, or it is withdrawn.
CREATE FUNCTION deliverable_leave(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    left_behind deliverable;
    other run;
BEGIN
    DELETE FROM deliverable d WHERE d.account_id = r.account_id AND d.url = r.artifact_url AND d.run_id = r.run_id
                                AND d.repo_key = r.repo_key
    RETURNING * INTO left_behind;
    IF FOUND THEN
        PERFORM deliverable_tell(left_behind, 'withdrawn');
        FOR other IN SELECT * FROM run x WHERE x.account_id = r.account_id AND x.artifact_url = r.artifact_url LOOP
            PERFORM deliverable_open(other);
        END LOOP;
    END IF;
END $$;

-- The trigger sees the rows of `run` after the change.
CREATE FUNCTION run_deliver() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.artifact_url IS NOT NULL AND (OLD.artifact_url, OLD.at, OLD.finished_at)
                                            IS DISTINCT FROM (NEW.artifact_url, NEW.at, NEW.finished_at) THEN
            PERFORM deliverable_leave(OLD);
        END IF;
    END IF;
    IF NEW.artifact_url IS NOT NULL THEN
        PERFORM deliverable_open(NEW);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER run_deliver AFTER INSERT OR UPDATE OF artifact_url, at, finished_at ON run
    FOR EACH ROW EXECUTE FUNCTION run_deliver();

-- Take the account as an owner of the repository.
CREATE FUNCTION repo_own(account uuid, repo text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = lower(repo)) THEN
        RETURN;
    END IF;
    PERFORM repo_lock(repo);
    INSERT INTO owned_repo (account_id, repo_key) VALUES (account, lower(repo)) ON CONFLICT DO NOTHING;
    PERFORM deliverable_settle(account, lower(repo));
END $$;

-- What an event of the code host tells of a pull request or issue. opened_at and closed_at are null unless the event is
-- about that.
CREATE FUNCTION code_host_item_tell(repo text, kind text, number bigint, state text, opened_at timestamptz,
                                    closed_at timestamptz, told_at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    owner uuid;
BEGIN
    PERFORM repo_lock(repo);
    INSERT INTO code_host_item AS i VALUES (lower(repo), kind, number, state, opened_at, closed_at, told_at)
    ON CONFLICT ON CONSTRAINT code_host_item_pkey DO UPDATE SET
        state = CASE WHEN i.told_at > excluded.told_at THEN i.state ELSE excluded.state END,
        opened_at = least(i.opened_at, excluded.opened_at), closed_at = greatest(i.closed_at, excluded.closed_at),
        told_at = greatest(i.told_at, excluded.told_at);
    FOR owner IN SELECT o.account_id FROM owned_repo o WHERE o.repo_key = lower(repo) LOOP
        PERFORM deliverable_settle(owner, lower(repo), kind, number);
    END LOOP;
END $$;
