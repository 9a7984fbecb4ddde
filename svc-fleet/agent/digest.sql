-- name: digest_setup(account, only_repository, url) (read)
-- :only_repository is the only one that the key may see; NULL: all. :url is the link of the pull request that brings an agent's
-- workflow. Returns what is said of it, the row and the version of that for run_text_store(), and, as run_record_get, what was
-- stored of this version, and when.
WITH setup AS (
    SELECT i.id, i.agent, i.repo, CASE WHEN i.status = 'active' THEN coalesce(told.state, 'open') ELSE 'revoked' END AS state
    FROM installation i, artifact_of(i.setup_url) at
    LEFT JOIN code_host_item told ON told.repo_key = at.repo_key AND told.kind = at.kind AND told.number = at.number
    WHERE i.account_id = :account AND i.setup_url = repository_link_now(:url)
      AND (:only_repository::text IS NULL OR i.repo_key = repository_key(:only_repository))
    ORDER BY i.id DESC LIMIT 1
)
SELECT json_build_object(
           'title', 'Setup of ' || s.agent || ' on ' || s.repo,
           'digest', 'Made by provisioning: it adds the workflow of ' || s.agent || ' to ' || s.repo || '. '
               || CASE s.state
                      WHEN 'open' THEN 'It waits to be merged; until then this workflow is not in force. Review and merge it.'
                      WHEN 'merged' THEN 'It was merged, so this workflow is in force.'
                      WHEN 'revoked' THEN 'The agent was revoked, so it does not matter any more.'
                      ELSE 'It was closed without being merged, so this workflow never came into force. Provision the interest '
                           || 'again if the agent is to have it.' END,
           'model', NULL) AS body,
       s.id, s.agent || ' ' || s.state AS version, t.body AS stored, time_json(t.made_at) AS made_at
FROM setup s
LEFT JOIN run_text t ON t.run = s.id AND t.kind = 'digest' AND t.version = s.agent || ' ' || s.state;
