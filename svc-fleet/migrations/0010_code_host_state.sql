-- What was asked of the code host while a client waited.

-- When the newest workflow run of a repository was last asked for, and what the code host said then: `told` as
-- svc-integrations shows a run, JSON null when there is none. The row without an account is that of the accounts that own
-- the repository (owned_repo), for whom it is asked once; any other account has a row of its own, without an answer.
CREATE TABLE run_status (
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    account_id uuid,
    asked_at   timestamptz,
    told       jsonb,
    told_at    timestamptz,
    UNIQUE NULLS NOT DISTINCT (repo_key, account_id)
);

CREATE INDEX run_status_account ON run_status (account_id);
CREATE TRIGGER account_skipped BEFORE INSERT ON run_status FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- When an account's repository was last fetched from the code host.
--
--   tried_at    when fetching it last began, so that one that cannot be fetched does not stay the first
--   fetched_at  when fetching it last began that came to its end
CREATE TABLE repo_fetch (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL CHECK (repo_key = lower(repo_key) AND octet_length(repo_key) <= 600),
    tried_at   timestamptz NOT NULL,
    fetched_at timestamptz,
    PRIMARY KEY (account_id, repo_key)
);

CREATE TRIGGER account_skipped BEFORE INSERT ON repo_fetch FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE FUNCTION repo_is_owned(account uuid, repo text) RETURNS boolean LANGUAGE sql STABLE
RETURN EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = lower(repo));

-- The repository as first seen, if it is in the account's footprint: one of its runs or installations.
CREATE FUNCTION repo_in_footprint(account uuid, repo text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT i.repo FROM installation i
                     WHERE i.account_id = account AND i.repo_key = lower($2) ORDER BY i.id LIMIT 1),
                    (SELECT r.repo FROM run r WHERE r.account_id = account AND r.repo_key = lower($2) LIMIT 1))
$$;

-- Whether the account may ask the code host about the repository now: nobody with the same row did so in the last five
-- seconds. Then the next may not.
CREATE FUNCTION run_status_ask(account uuid, repo text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run_status AS s (repo_key, account_id, asked_at)
    VALUES (lower(repo), CASE WHEN NOT repo_is_owned(account, repo) THEN account END, clock_timestamp())
    ON CONFLICT (repo_key, account_id) DO UPDATE SET asked_at = excluded.asked_at
    WHERE s.asked_at IS NULL OR s.asked_at <= excluded.asked_at - interval '5 seconds';
    RETURN FOUND;
END $$;

-- The code host refused to tell the account: another one may ask at once.
CREATE FUNCTION run_status_give_up(account uuid, repo text) RETURNS void LANGUAGE sql AS $$
    UPDATE run_status s SET asked_at = NULL
    WHERE s.repo_key = lower(repo) AND s.account_id IS NULL AND repo_is_owned(account, repo)
$$;

-- A workflow run as svc-integrations shows it, applied as the event of it. A run that is not known yet has started when
-- the code host says, and not now.
CREATE FUNCTION workflow_run_tell_json(repo text, run jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    started jsonb := jsonb_strip_nulls(jsonb_build_object('started_at', time_json((run ->> 'started_at')::timestamptz)));
BEGIN
    PERFORM repo_lock(repo);
    PERFORM run_report(o.account_id, repo, run -> 'run_id', started, '{}') FROM owned_repo o
    WHERE o.repo_key = lower(repo)
      AND NOT EXISTS (SELECT FROM run_key k WHERE k.account_id = o.account_id AND k.repo_key = o.repo_key
                                              AND k.run_key = run ->> 'run_id');
    RETURN workflow_run_tell(repo, (run ->> 'run_id')::bigint,
                             CASE run ->> 'status' WHEN 'completed' THEN 'ended' ELSE 'running' END,
                             run ->> 'conclusion', (run ->> 'updated_at')::timestamptz);
END $$;

-- What the code host told the account, which has proved so that it owns the repository.
CREATE FUNCTION run_status_tell(account uuid, repo text, run jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM repo_own(account, repo);
    INSERT INTO run_status AS s (repo_key, asked_at, told, told_at)
    VALUES (lower(repo), clock_timestamp(), run, clock_timestamp())
    ON CONFLICT (repo_key, account_id) DO UPDATE SET told = excluded.told, told_at = excluded.told_at;
    PERFORM workflow_run_tell_json(repo, run) WHERE jsonb_typeof(run) = 'object';
END $$;

-- The newest run of a repository in the account's footprint: as the code host last told an owner, else as the newest run
-- told of itself. `live`: it was told in the last five seconds.
CREATE FUNCTION run_status_json(account uuid, repo text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    s run_status;
    r run;
BEGIN
    SELECT x.* INTO s FROM run_status x
    WHERE x.repo_key = lower(repo) AND x.account_id IS NULL AND repo_is_owned(account, repo);
    IF jsonb_typeof(s.told) = 'object' THEN
        SELECT f.* INTO r FROM run_find(account, repo, s.told -> 'run_id', NULL) f;
    ELSE
        SELECT x.* INTO r FROM run x WHERE x.account_id = account AND x.repo_key = lower(run_status_json.repo)
        ORDER BY x.at DESC, x.id DESC LIMIT 1;
        s.told := NULL;
    END IF;
    RETURN jsonb_build_object(
        'repo', repo_in_footprint(account, repo),
        'run_id', coalesce(r.run_id, s.told -> 'run_id'),
        'status', coalesce(s.told ->> 'status', r.status),
        'outcome_kind', coalesce(r.outcome_kind, CASE WHEN s.told IS NULL THEN NULL
                                                      WHEN s.told ->> 'status' <> 'completed' THEN 'running'
                                                      WHEN s.told ->> 'conclusion' = 'success' THEN 'other'
                                                      ELSE 'failed' END),
        'artifact_url', r.artifact_url,
        'html_url', s.told ->> 'html_url',
        'started_at', coalesce(time_json((s.told ->> 'started_at')::timestamptz), time_json(r.at)),
        'updated_at', coalesce(time_json((s.told ->> 'updated_at')::timestamptz), time_json(r.changed_at)),
        'as_of', coalesce(time_json(s.told_at), time_json(r.changed_at)),
        'live', coalesce(s.told_at > clock_timestamp() - interval '5 seconds', false));
END $$;

-- Pull requests (`kind` pull_request) or issues as svc-integrations lists them, applied as the events of them. How many.
CREATE FUNCTION code_host_items_tell(repo text, kind text, items jsonb) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(code_host_item_tell(repo, kind, i.number, CASE WHEN i.merged THEN 'merged' ELSE i.state END, i.created_at,
                                     i.closed_at, i.updated_at))
    FROM (SELECT * FROM jsonb_to_recordset(items) AS x (number bigint, state text, merged boolean, created_at timestamptz,
                                                        closed_at timestamptz, updated_at timestamptz)
          ORDER BY x.number) i
$$;
