-- name: installed_connection(account) (read)
-- Returns whether it is connected to the code host.
SELECT EXISTS (SELECT FROM connection WHERE account_id = :account AND provider = 'code_host' AND status = 'active');

-- name: installed_forget(installation, repositories)
-- :repositories: the names of its repositories, a JSON array. What is remembered of them may be older than the installation.
WITH absence AS (
    DELETE FROM installation_absence WHERE repo IN (SELECT lower(r) FROM jsonb_array_elements_text(:repositories) AS r)
)
DELETE FROM installation WHERE installation_id = :installation;
