-- A template belongs to the account. One that names a repository can be used by keys that are limited to that, too; no other can.
ALTER TABLE template ADD COLUMN repo text;

CREATE OR REPLACE FUNCTION template_json(t template) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'template_id', t.id, 'name', t.name, 'description', t.description, 'spec', t.spec, 'digest', t.digest,
        'repo', t.repo, 'version', t.version, 'locked', t.is_locked, 'has_webhook_secret', t.secret IS NOT NULL,
        'created_at', time_json(t.created_at), 'updated_at', time_json(t.updated_at))
$$;

-- As of 0013_apart.sql, with the member `repo`.
CREATE OR REPLACE FUNCTION template_new(account uuid, id uuid, body jsonb, secret bytea, most int) RETURNS template
LANGUAGE plpgsql AS $$
DECLARE
    made template;
BEGIN
    IF NOT room_require(account, 'template_max', template_count(account), most, false) THEN
        PERFORM room_require(account, 'template_max', template_count(account), most, true);
    END IF;
    INSERT INTO template AS t (id, account_id, name, description, spec, repo, secret)
    SELECT template_new.id, account, n.name, n.description, n.spec, n.repo, template_new.secret
    FROM jsonb_populate_record(NULL::template, body) n
    RETURNING t.* INTO made;
    RETURN made;
END $$;

-- As of 0013_apart.sql. A key that is limited to a repository uses the templates of that.
CREATE OR REPLACE FUNCTION run_new(account uuid, given jsonb, build_time_limit int, limited_to text, waiting_max int,
                                   OUT outcome text, OUT made uuid)
LANGUAGE plpgsql AS $$
DECLARE
    r run;
    t template;
    built work;
    is_hosted boolean;
BEGIN
    r := jsonb_populate_record(NULL::run, given);
    r.id := uuid_v7();
    is_hosted := r.target = 'hosted';
    SELECT * INTO t FROM template x WHERE x.id = r.template_id AND x.account_id = account
                                     AND (limited_to IS NULL OR lower(x.repo) = lower(limited_to));
    -- With the row locked, the build cannot end between this and the commit: its end sees the run.
    SELECT * INTO built FROM work w WHERE w.id = r.build_id AND w.kind = 'build' AND w.account_id = account FOR SHARE;
    outcome := nullif(concat_ws(' ', CASE WHEN r.template_id IS NOT NULL AND t.id IS NULL THEN 'template' END,
                                     CASE WHEN r.build_id IS NOT NULL AND built.id IS NULL THEN 'build' END), '');
    IF outcome IS NULL AND built.finished_at IS NOT NULL AND built.status <> 'succeeded' THEN
        outcome := 'failed';
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM work_require_room(account, 'run', waiting_max);
    IF r.build_id IS NULL AND NOT is_hosted AND t.spec ? 'containerfile' THEN
        r.build_id := build_new(account, jsonb_build_object(
            'source', 'containerfile', 'containerfile', t.spec ->> 'containerfile', 'template', jsonb_build_object(
                'template_id', t.id, 'version', t.version, 'digest', t.digest, 'spec', t.spec)),
            NULL, false, false, build_time_limit, limited_to, waiting_max);
        SELECT * INTO built FROM work w WHERE w.id = r.build_id FOR SHARE;
    END IF;
    INSERT INTO work (id, kind, account_id, repo, timeout_seconds, turn, is_claimable)
    VALUES (r.id, 'run', account, coalesce(limited_to, built.repo),
            coalesce(least((given ->> 'timeout_seconds')::numeric::int, spec_timeout(t.spec)), 3600),
            work_turn('run', account), NOT is_hosted AND coalesce(built.status, 'succeeded') = 'succeeded');
    INSERT INTO run (id, account_id, name, target, template_id, template_version, template_digest, build_id)
    VALUES (r.id, account, r.name, r.target, t.id, t.version, t.digest, r.build_id);
    PERFORM run_store(r.id, coalesce(r.params, '{}'), NULL, NULL, NULL);
    outcome := 'ok';
    made := r.id;
END $$;
