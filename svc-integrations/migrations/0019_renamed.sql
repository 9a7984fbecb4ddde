-- Functions that have other names now, and that the previous release does not call.
DROP FUNCTION IF EXISTS access_lost_tell(uuid, text, text);
DROP FUNCTION IF EXISTS digests_tell(int);
DROP FUNCTION IF EXISTS endpoint_tell(endpoint, text);
DROP FUNCTION IF EXISTS repository_told(jsonb, bigint, text, text);
