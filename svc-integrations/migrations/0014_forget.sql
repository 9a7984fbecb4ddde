-- account_forget() deletes these rows, as all others of an account.
DROP TRIGGER IF EXISTS access_lost_forget ON deleted_account;
DROP FUNCTION IF EXISTS access_lost_forget();
