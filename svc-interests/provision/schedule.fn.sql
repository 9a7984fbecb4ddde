-- When agents look for something to do (provision/schedule.h).

CREATE OR REPLACE FUNCTION schedule_default() RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{"every": "weekly", "weekday": 1, "hour": 8, "minute": 0, "time_zone": "UTC"}'::jsonb;

-- Members that are left out have their default. Violates interest_time_zone.
CREATE OR REPLACE FUNCTION schedule_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.schedule := schedule_default() || NEW.schedule;
    IF NOT time_zone_is_known(NEW.schedule ->> 'time_zone') THEN
        RAISE check_violation USING MESSAGE = 'the time zone is unknown', CONSTRAINT = 'interest_time_zone';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER schedule_made BEFORE INSERT ON interest FOR EACH ROW
WHEN (NEW.schedule IS NOT NULL) EXECUTE FUNCTION schedule_hold();
CREATE OR REPLACE TRIGGER schedule_changed BEFORE UPDATE OF schedule ON interest FOR EACH ROW
WHEN (NEW.schedule IS NOT NULL AND NEW.schedule IS DISTINCT FROM OLD.schedule) EXECUTE FUNCTION schedule_hold();

-- Compute when the agent of an interest starts next, after `moment`.
CREATE OR REPLACE FUNCTION schedule_plan(of_interest uuid, schedule jsonb, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s jsonb := coalesce(schedule, schedule_default());
BEGIN
    IF zone_or_utc(s ->> 'time_zone') <> s ->> 'time_zone' THEN
        RAISE WARNING 'the time zone % of the schedule of interest % exists no more: it is UTC', s ->> 'time_zone', of_interest;
    END IF;
    UPDATE provisioning p SET (next_run_date, next_run_at) = (
        SELECT max(n.next_date), coalesce(max(n.next_at), 'infinity')
        FROM local_time_next(CASE s ->> 'every' WHEN 'daily' THEN '{1,2,3,4,5,6,7}' WHEN 'weekly' THEN ARRAY[(s ->> 'weekday')::int]
                                                ELSE '{}' END,
                             (s ->> 'hour')::int, (s ->> 'minute')::int, s ->> 'time_zone', p.last_run_date, moment) n)
    WHERE p.interest_id = of_interest;
END $$;

CREATE OR REPLACE FUNCTION schedule_replan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM schedule_plan(NEW.id, NEW.schedule, now());
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER schedule_replan AFTER UPDATE OF schedule ON interest FOR EACH ROW
WHEN (NEW.schedule IS DISTINCT FROM OLD.schedule) EXECUTE FUNCTION schedule_replan();

-- Why the agent starts nothing by itself; null: it does.
CREATE OR REPLACE FUNCTION agent_obstacle(p provisioning, i interest) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE WHEN i.agent_paused_at IS NOT NULL THEN 'The agent is paused.'
                WHEN NOT i.is_active THEN 'The interest is not active.'
                WHEN p.revoked_at IS NULL AND key_has_expired(p) THEN 'The key of the agent has expired: provision it again.'
                WHEN provision_state(p) <> 'active' THEN 'The agent is not at work.'
                WHEN p.model_key_missing THEN 'The key of the model provider is missing.'
                WHEN i.pool_status IN ('building', 'failed') THEN 'The papers of the interest are not found yet.' END;
END $$;

-- Start up to `most` agents whose time has come, each as a task, and plan their next times; also those of agents that have none yet. A
-- time that is over for six hours is skipped, and an agent that has no plan makes up for none: it has just had its first run, which also
-- makes up for a time before it. While an agent is provisioned its time waits for the end of that. Agents of accounts that are being deleted
-- are left out. Returns how many there were.
CREATE OR REPLACE FUNCTION schedules_run(most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    p    provisioning;
    i    interest;
    come int := 0;
BEGIN
    FOR p IN SELECT locked.*
             FROM (SELECT x.interest_id FROM provisioning x WHERE x.next_run_at IS NULL OR x.next_run_at <= now()
                   ORDER BY x.next_run_at NULLS FIRST OFFSET 0) due
             CROSS JOIN LATERAL (
                 SELECT x.* FROM provisioning x
                 WHERE x.interest_id = due.interest_id AND account_share_try(x.account_id)
                   AND (x.next_run_at IS NULL
                        OR x.next_run_at <= now()
                           AND NOT EXISTS (SELECT FROM task t WHERE t.id = x.task_id AND t.status IN ('pending', 'running')))
                 FOR UPDATE SKIP LOCKED) locked
             LIMIT most LOOP
        CONTINUE WHEN p.next_run_at IS NOT NULL AND provision_state(p) = 'in_progress'; -- since a moment ago
        come := come + 1;
        SELECT * INTO i FROM interest x WHERE x.id = p.interest_id;
        IF p.next_run_at > now() - interval '6 hours' AND coalesce(p.dispatched_at < p.next_run_at, true)
           AND agent_obstacle(p, i) IS NULL THEN
            PERFORM task_put('scheduled_run', p.account_id,
                             jsonb_build_object('interest_id', p.interest_id, 'repo', p.repo, 'local_date', p.next_run_date), NULL, NULL);
        END IF;
        UPDATE provisioning x SET last_run_date = coalesce(p.next_run_date, x.last_run_date) WHERE x.interest_id = p.interest_id;
        PERFORM schedule_plan(p.interest_id, i.schedule, CASE WHEN p.next_run_at IS NULL THEN now() ELSE now() - interval '6 hours' END);
    END LOOP;
    RETURN come;
END $$;
