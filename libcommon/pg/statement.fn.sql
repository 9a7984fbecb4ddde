-- Of the statements of all services. A function in SQL that names objects has a body of the kind RETURN or BEGIN ATOMIC: that is
-- bound to the objects of this schema once, whatever the caller's search_path.

-- A time as the API writes it: 2026-01-31T09:30:00.000Z.
CREATE OR REPLACE FUNCTION time_json(at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The request that a statement runs for: the client sets it in its transactions.
CREATE OR REPLACE FUNCTION request_id_now() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('expops.request_id', true), '');
