-- Renewals of the workflow (provision/renewal.h).

-- Whether the repository has another version than this one, which may be null: not known.
CREATE OR REPLACE FUNCTION workflow_is_outdated(p provisioning, version text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(p.merged_at IS NOT NULL AND p.revoked_at IS NULL AND p.workflow_version <> version, false)
$$;

-- Whether a renewal to a version is still to come: no pull request has proposed it, no task is about to, and none was started within the
-- last day. One that failed, because the code host refused it, is so tried again.
CREATE OR REPLACE FUNCTION renewal_is_due(p provisioning, version text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p.proposed_version IS DISTINCT FROM version
       AND (p.renewal_version IS DISTINCT FROM version OR p.renewal_tried_at IS NULL OR p.renewal_tried_at < now() - interval '1 day')
       AND NOT EXISTS (SELECT FROM task t WHERE t.account_id = p.account_id AND t.kind = 'workflow_renewal'
                                            AND t.status IN ('pending', 'running') AND t.input ->> 'interest_id' = p.interest_id::text)
$$;

-- Note that a process has this version, and start the renewals of up to `most` agents, each as a task; those of accounts that are
-- being deleted are left out. Returns how many; null: another version was seen within `settled`, so none.
CREATE OR REPLACE FUNCTION renewals_run(own_version text, settled interval, most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    p       provisioning;
    started int := 0;
BEGIN
    INSERT INTO workflow_version AS w (version, seen_at) VALUES (own_version, clock_timestamp())
    ON CONFLICT (version) DO UPDATE SET seen_at = excluded.seen_at;
    DELETE FROM workflow_version w WHERE w.version <> own_version AND w.seen_at < clock_timestamp() - settled;
    IF EXISTS (SELECT FROM workflow_version w WHERE w.version <> own_version) THEN
        RETURN NULL;
    END IF;
    FOR p IN SELECT locked.*
             FROM (SELECT x.interest_id FROM provisioning x JOIN interest i ON i.id = x.interest_id
                   WHERE workflow_is_outdated(x, own_version) AND renewal_is_due(x, own_version)
                     AND provision_state(x) = 'active' AND i.agent_paused_at IS NULL
                   ORDER BY x.interest_id OFFSET 0) due
             CROSS JOIN LATERAL (
                 SELECT x.* FROM provisioning x
                 WHERE x.interest_id = due.interest_id AND workflow_is_outdated(x, own_version) AND renewal_is_due(x, own_version)
                   AND provision_state(x) = 'active' AND account_share_try(x.account_id)
                 FOR UPDATE SKIP LOCKED) locked
             LIMIT most LOOP
        PERFORM task_put('workflow_renewal', p.account_id, jsonb_build_object('interest_id', p.interest_id, 'repo', p.repo, 'version', own_version),
                         NULL, NULL);
        UPDATE provisioning x SET renewal_version = own_version, renewal_tried_at = now() WHERE x.interest_id = p.interest_id;
        started := started + 1;
    END LOOP;
    RETURN started;
END $$;
