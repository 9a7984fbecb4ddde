-- account_forget() deletes these rows, as all others of an account.
DROP TRIGGER IF EXISTS repo_access_forget ON deleted_account;
DROP TRIGGER IF EXISTS run_removed_forget ON deleted_account;
DROP FUNCTION IF EXISTS repo_access_forget(), run_removed_forget();
