-- The inbox: what waits for somebody, derived from the other tables by rules, so that it is never out of date.

-- The id of an item, of the rule's name and of what the item is about: it is the same on every replica and at all times, whatever
-- the words of its title.
CREATE OR REPLACE FUNCTION inbox_id(rule text, subject text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN md5(rule || E'\n' || subject)::uuid;

-- The items of lost access.
CREATE OR REPLACE FUNCTION inbox_access_lost(account uuid, in_repo text) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    SELECT inbox_id('access_lost', a.repo_key || ' ' || a.lost_at), 'access_lost', a.repo,
           'Your account has no access to ' || a.repo || ' any more: connect the code host as a user who can push to it',
           a.href, a.lost_at, 'critical'
    FROM repo_access a WHERE a.account_id = account AND a.lost_at IS NOT NULL AND (in_repo IS NULL OR a.repo_key = in_repo)
$$;

-- The items of budgets, of which each is there until its period ends.
CREATE OR REPLACE FUNCTION inbox_budget(account uuid, in_repo text) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    SELECT inbox_id(k.kind, b.id || ' ' || extract(epoch FROM p.starts_at)), k.kind, b.repo,
           trim_scale(round(budget_spent(p), 2)) || ' of ' || budget_name(b) || ' are spent'
           || CASE WHEN k.kind = 'budget_warning' THEN '' WHEN b.action = 'warn' THEN '; runs go on'
                   WHEN NOT budget_passes(b.usd, budget_spent(p), 100) THEN budget_refused_text()
                   ELSE '; no run starts before ' || budget_end_text(b, p.ends_at) END,
           '/console/agents/budgets', (SELECT max(n.passed_at) FROM budget_notice n WHERE n.budget_id = b.id AND n.starts_at = p.starts_at AND n.percent >= 80),
           CASE k.kind WHEN 'budget_reached' THEN 'critical' ELSE 'warning' END
    FROM budget b JOIN budget_period p ON p.budget_id = b.id,
         LATERAL (SELECT CASE WHEN budget_is_reached(b, p, budget_spent(p)) THEN 'budget_reached'
                              WHEN budget_passes(b.usd, budget_spent(p), 80) THEN 'budget_warning' END) AS k (kind)
    WHERE b.account_id = account AND (in_repo IS NULL OR b.scope = 'repo' AND b.target = in_repo)
      AND p.starts_at <= now() AND p.ends_at > now() AND k.kind IS NOT NULL
$$;

-- The items of repositories whose runs start whatever is left of a budget that stops runs.
CREATE OR REPLACE FUNCTION inbox_unguarded(account uuid, in_repo text) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (lower(u.repo)) inbox_id('budget_unguarded', lower(u.repo)), 'budget_unguarded', u.repo,
           'Runs that nobody starts here pass the budget of ' || u.repo || ': its workflow is of an earlier version; provision the agent again',
           '/console/connect', u.at, 'warning'
    FROM budget b, budget_unguarded(b) AS u
    WHERE b.account_id = account AND b.action = 'stop' AND (in_repo IS NULL OR lower(u.repo) = in_repo)
    ORDER BY lower(u.repo), u.at
$$;

-- The items of costs that stood out in the last week.
CREATE OR REPLACE FUNCTION inbox_cost_unusual(account uuid, in_repo text) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    SELECT inbox_id('cost_unusual', u.kind || ' ' || u.subject), 'cost_unusual', u.repo, cost_unusual_title(u),
           cost_unusual_path(u), u.found_at, 'warning'
    FROM cost_unusual u
    WHERE u.account_id = account AND (in_repo IS NULL OR u.repo_key = in_repo) AND u.found_at > now() - interval '168 hours'
$$;

-- Reminders of experiments that are due (experiment.fn.sql); none is of a repository. svc-experiments knows only of pull requests that
-- its runs opened whether they are merged; the code host may have told of others.
CREATE OR REPLACE FUNCTION inbox_experiment(account uuid, in_repo text) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    SELECT inbox_id(r.kind, r.experiment_id || ' ' || extract(epoch FROM r.due_at)), r.kind, NULL,
           r.name || CASE r.kind WHEN 'experiment_overdue' THEN ' has run for its planned time without a result'
                                 WHEN 'experiment_decided_without_data' THEN ' was decided without a result to decide by'
                                 ELSE ' was shipped, and its pull request is not merged' END,
           '/console/experiments/' || r.experiment_id, r.due_at, CASE r.kind WHEN 'experiment_shipped_without_merge' THEN 'info' ELSE 'warning' END
    FROM experiment_reminder r
    WHERE r.account_id = account AND in_repo IS NULL AND r.due_at <= now()
      AND r.kind IN ('experiment_overdue', 'experiment_decided_without_data', 'experiment_shipped_without_merge')
      AND NOT (r.kind = 'experiment_shipped_without_merge'
               AND EXISTS (SELECT FROM experiment e WHERE e.id = r.experiment_id AND e.account_id = account
                                                      AND pull_request_is_merged(account, e.pr_url)))
$$;

-- Pull requests of runs that the code host has told nothing of and that an experiment knows to be at their end: they wait for nobody.
CREATE OR REPLACE FUNCTION inbox_ended_pulls(account uuid) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT d.url
    FROM experiment e JOIN deliverable d ON d.account_id = account AND d.url = e.pr_url AND d.stage = 'open'
    WHERE e.account_id = account AND NOT e.is_deleted AND lower(e.pr_status) IN ('merged', 'closed')
      AND NOT EXISTS (SELECT FROM code_host_item i WHERE i.repo_key = d.repo_key AND i.kind = d.kind AND i.number = d.number
                                                     AND i.state IS NOT NULL)
$$;

-- The items of connections that ended with the place in the account of who made them.
CREATE OR REPLACE FUNCTION inbox_connection_gone(account uuid, in_repo text) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    SELECT inbox_id('connection_gone', g.provider || ' ' || extract(epoch FROM g.gone_at)), 'connection_gone', NULL,
           'The connection to ' || CASE g.provider WHEN 'code_host' THEN 'the code host' ELSE g.provider END || coalesce(' as ' || g.login, '')
           || ' ended: who made it has no place in the account any more. Connect it again', '/console/connect', g.gone_at, 'critical'
    FROM connection_gone g WHERE g.account_id = account AND in_repo IS NULL
$$;

-- The items of pull requests and issues that wait. Those that are older than a year are left out, and all but the newest 500: nobody
-- acts on them. A plan for any repository would read all that wait, to sort them.
CREATE OR REPLACE FUNCTION inbox_waiting(account uuid, in_repo text, archived boolean) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
BEGIN RETURN QUERY
    SELECT inbox_id(d.kind || '_waiting', d.url), d.kind || '_waiting', d.repo,
           CASE d.kind WHEN 'pull_request' THEN 'A pull request of ' || d.repo || ' waits for a review'
                       ELSE 'An issue of ' || d.repo || ' waits for an answer' END,
           d.url, d.opened_at, CASE WHEN d.opened_at < now() - interval '7 days' THEN 'warning' ELSE 'info' END
    FROM deliverable d
    WHERE d.account_id = account AND d.stage = 'open' AND d.kind <> 'other' AND d.opened_at > now() - interval '1 year'
      AND (in_repo IS NULL OR d.repo_key = in_repo) AND d.url NOT IN (SELECT inbox_ended_pulls(account))
      AND (inbox_id(d.kind || '_waiting', d.url) IN (SELECT a.item FROM inbox_archived a WHERE a.account_id = account)) = archived
    ORDER BY d.opened_at DESC LIMIT 500;
END $$;

-- Whether an agent that is not revoked has this key in the secrets of its repository.
CREATE OR REPLACE FUNCTION key_is_of_agent(account uuid, key uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM installation i WHERE i.key_id = key AND i.account_id = account AND i.status = 'active')
$$;

-- Forget that items were dismissed that are over and would come back with the same id.
CREATE OR REPLACE FUNCTION inbox_forget_over(account uuid) RETURNS void LANGUAGE sql AS $$
    DELETE FROM inbox_archived a
    USING installation i, LATERAL (
        SELECT inbox_id('agent_silent', i.id::text)
        WHERE coalesce(last_run_at(account, i.repo_key), i.installed_at) >= now() - interval '7 days'
        UNION ALL
        SELECT inbox_id('model_key_missing', i.id::text) WHERE NOT i.model_key_missing
        UNION ALL
        SELECT inbox_id('budget_unguarded', i.repo_key)
        WHERE i.repo_key <> ALL (ARRAY(SELECT lower(u.repo) FROM inbox_unguarded(account, NULL) u))) AS ended (item)
    WHERE i.account_id = account AND i.status = 'active' AND a.account_id = account AND a.item = ended.item
$$;

-- The item of a key: one until it expires, and another one from then on.
CREATE OR REPLACE FUNCTION inbox_key_id(k key_expiring) RETURNS uuid LANGUAGE sql STABLE
RETURN inbox_id('key_expiring', k.key_id || CASE WHEN k.expires_at > now() THEN ' ' || extract(epoch FROM k.expires_at) ELSE ' has expired' END);

-- Whom items are about: the id of a person, or of the key with which they act.
CREATE OR REPLACE FUNCTION inbox_people(account uuid) RETURNS TABLE (item uuid, who uuid) LANGUAGE sql STABLE AS $$
    SELECT inbox_id('connection_gone', g.provider || ' ' || extract(epoch FROM g.gone_at)), g.person_id
    FROM connection_gone g WHERE g.account_id = account
    UNION ALL
    SELECT inbox_key_id(k), k.key_id
    FROM key_expiring k WHERE k.account_id = account
$$;

-- The items of an account that are archived, or those that are not. One rule a branch; `in_repo` narrows to a repository;
-- null: all.
--
--   pull_request_waiting  a pull request waits for a review
--   issue_waiting         an issue of an agent waits for an answer
--   run_failed            the last run of a repository failed; the next that does not takes the item away
--   agent_silent          an agent that is not revoked has not run for a week
--   setup_waiting         the pull request that brings an agent's workflow waits to be merged
--   model_key_missing     an agent has no model key
--   agent_revoked         an agent was revoked in the last 30 days
--   endpoint_disabled     nothing more is sent to an endpoint of messages
--   connection_gone       a connection ended with the place in the account of who made it
--   access_lost           the account has lost access to a repository that it owned, or that an agent of it works on
--   budget_warning        four fifths of a budget are spent in its current period
--   budget_reached        all of it is, or a run was refused
--   budget_unguarded      a budget stops runs, and the workflow of a repository does not ask whether they may start
--   cost_unusual          a run or a day cost much more than those before it
--   experiment_overdue, experiment_decided_without_data, experiment_shipped_without_merge  what an experiment is to be reminded of
--   key_expiring          a key of the account expires within 30 days, or that of an agent has expired
CREATE OR REPLACE FUNCTION inbox_items(account uuid, in_repo text, archived boolean) RETURNS TABLE (
    id uuid, kind text, repo text, title text, href text, created_at timestamptz, severity text) LANGUAGE sql STABLE AS $$
    WITH item (id, kind, repo, title, href, created_at, severity) AS (
    SELECT inbox_id('run_failed', last.id::text), 'run_failed', last.repo,
           'The last run on ' || last.repo || ' failed: ' || coalesce(last.cause, last.status),
           coalesce(last.artifact_url, run_page_path(last.run_id)),
           coalesce(last.finished_at, last.at), 'critical'
    FROM run_repo s JOIN run last ON last.id = s.last_id AND last.first_at = s.last_first_at
    WHERE s.account_id = account AND (in_repo IS NULL OR s.repo_key = in_repo) AND s.last_outcome = 'failed'
    UNION ALL
    SELECT inbox_id('agent_silent', i.id::text), 'agent_silent', i.repo,
           i.agent || ' on ' || i.repo || ' has not run for a week', '/console/agents/' || i.repo, coalesce(s.last_at, i.installed_at), 'warning'
    FROM installation i LEFT JOIN run_repo s ON s.account_id = account AND s.repo_key = i.repo_key
    WHERE i.account_id = account AND i.status = 'active' AND (in_repo IS NULL OR i.repo_key = in_repo)
      AND coalesce(s.last_at, i.installed_at) < now() - interval '7 days'
    UNION ALL
    SELECT inbox_id('setup_waiting', i.setup_url), 'setup_waiting', i.repo,
           'The pull request that sets up ' || i.agent || ' on ' || i.repo || ' waits to be merged', i.setup_url,
           i.installed_at, 'warning'
    FROM installation i, artifact_of(i.setup_url) setup
    LEFT JOIN code_host_item told ON told.repo_key = setup.repo_key AND told.kind = setup.kind AND told.number = setup.number
    WHERE i.account_id = account AND i.status = 'active' AND i.setup_url IS NOT NULL
      AND (in_repo IS NULL OR i.repo_key = in_repo) AND coalesce(told.state, 'open') = 'open'
    UNION ALL
    SELECT inbox_id('model_key_missing', i.id::text), 'model_key_missing', i.repo,
           i.agent || ' on ' || i.repo || ' has no model key: connect '
           || coalesce(i.provider, 'a model provider') || ' and provision it again', '/console/connect', i.installed_at, 'critical'
    FROM installation i
    WHERE i.account_id = account AND i.status = 'active' AND i.model_key_missing
      AND (in_repo IS NULL OR i.repo_key = in_repo)
    UNION ALL
    SELECT inbox_id('agent_revoked', i.id::text), 'agent_revoked', i.repo,
           i.agent || ' on ' || i.repo || ' was revoked', '/console/agents/' || i.repo, i.revoked_at, 'info'
    FROM installation i
    WHERE i.account_id = account AND i.revoked_at > now() - interval '30 days' AND (in_repo IS NULL OR i.repo_key = in_repo)
    UNION ALL
    SELECT * FROM inbox_access_lost(account, in_repo)
    UNION ALL
    SELECT * FROM inbox_budget(account, in_repo)
    UNION ALL
    SELECT * FROM inbox_unguarded(account, in_repo)
    UNION ALL
    SELECT * FROM inbox_cost_unusual(account, in_repo)
    UNION ALL
    SELECT * FROM inbox_experiment(account, in_repo)
    UNION ALL
    SELECT * FROM inbox_connection_gone(account, in_repo)
    UNION ALL
    SELECT inbox_key_id(k), 'key_expiring', k.repo,
           'The key ' || k.name || ' expires on ' || to_char(k.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), '/console/settings', k.told_at,
           CASE WHEN k.expires_at < now() + interval '168 hours' THEN 'critical' ELSE 'warning' END
    FROM key_expiring k
    WHERE k.account_id = account AND k.expires_at > now() AND (in_repo IS NULL OR repository_key(k.repo) = in_repo)
    UNION ALL
    SELECT inbox_key_id(k), 'key_expiring', k.repo,
           'The key ' || k.name || ' has expired, and the agent cannot run: provision it again', '/console/connect', k.expires_at, 'critical'
    FROM key_expiring k
    WHERE k.account_id = account AND k.expires_at <= now() AND key_is_of_agent(account, k.key_id)
      AND (in_repo IS NULL OR repository_key(k.repo) = in_repo)
    UNION ALL
    SELECT inbox_id('endpoint_disabled', d.endpoint_id || ' ' || extract(epoch FROM d.disabled_at)), 'endpoint_disabled', NULL,
           'Nothing more is sent to ' || d.name || ': ' || d.reason,
           '/console/settings/endpoints/' || d.endpoint_id, d.disabled_at, 'critical'
    FROM endpoint_disabled d WHERE d.account_id = account AND in_repo IS NULL
    )
    SELECT * FROM inbox_waiting(account, in_repo, archived)
    UNION ALL
    SELECT * FROM item i
    WHERE EXISTS (SELECT FROM inbox_archived a WHERE a.account_id = account AND a.item = i.id) = archived
$$;
