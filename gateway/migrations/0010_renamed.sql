-- Functions that have other names now, and that the previous release does not call.
DROP FUNCTION IF EXISTS api_keys_expiring_tell();
DROP FUNCTION IF EXISTS api_key_tell(api_key, text);
