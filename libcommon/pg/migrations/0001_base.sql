-- What every service's schema has, beside the `migration` table that migrate_run() makes itself.
--
-- Objects are created in the schema of the service, which is the search_path of these migrations. Functions in SQL that
-- name some are of the BEGIN ATOMIC and RETURN kind: bound to this schema's now, whatever the caller's search_path.

-- Version 7 UUID (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then the fraction of the millisecond in 12 bits
-- (section 6.2, method 3), then 62 random bits. Ascending over the microseconds, like uuid_new() in C.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE
BEGIN ATOMIC
    SELECT encode(overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send(us / 1000) FROM 3) || int2send((28672 + us % 1000 * 4096 / 1000)::smallint)
        FROM 1 FOR 8), 'hex')::uuid
    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS now;
END;

-- A time as the API writes it: 2026-01-31T09:30:00.000Z.
CREATE FUNCTION time_json(at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The request that a statement runs for: the client sets it in its transactions.
CREATE FUNCTION request_id_now() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('expops.request_id', true), '');
