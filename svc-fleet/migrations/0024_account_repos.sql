-- original-sha256: accf6d4dc51b87519a9d279bb3a58aae84b940f680f2c4fd96d836ae722d180c
--
-- What is kept of a repository, and belongs to no account, goes with the last account that has it (repos_forget()): this was left
-- behind before.
DELETE FROM code_host_item i
WHERE NOT EXISTS (SELECT FROM owned_repo o WHERE o.repo_key = i.repo_key)
  AND NOT EXISTS (SELECT FROM deliverable d WHERE d.repo_key = i.repo_key AND d.kind = i.kind AND d.number = i.number);
DELETE FROM run_status s WHERE s.account_id IS NULL AND NOT EXISTS (SELECT FROM owned_repo o WHERE o.repo_key = s.repo_key);
DELETE FROM repo_guard g WHERE NOT EXISTS (SELECT FROM owned_repo o WHERE o.repo_key = g.repo_key);
