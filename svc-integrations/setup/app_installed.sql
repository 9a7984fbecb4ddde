-- name: installed_connection (read)
-- $1 account: whether it is connected to the code host.
SELECT EXISTS (SELECT FROM connection WHERE account_id = $1 AND provider = 'code_host' AND status = 'active');

-- name: installed_forget
-- $1 installation, $2 names of its repositories in a JSON array: what is remembered of them may be older than the installation.
WITH absence AS (
    DELETE FROM installation_absence WHERE repo IN (SELECT lower(r) FROM jsonb_array_elements_text($2) AS r)
)
DELETE FROM installation WHERE installation_id = $1;
