-- Of the statements of all services. A function in SQL that names objects has a body of the kind RETURN or BEGIN ATOMIC: that is
-- bound to the objects of this schema once, whatever the caller's search_path.

-- A time as the API writes it: 2026-01-31T09:30:00.000Z.
CREATE OR REPLACE FUNCTION time_json(at timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The request that a statement runs for: the client sets it in its transactions.
CREATE OR REPLACE FUNCTION request_id_now() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('expops.request_id', true), '');

-- The plan of a statement whatever its parameters are, as EXPLAIN shows it; it does not run. Both 15 and later versions make a generic
-- plan of a prepared statement. What a call that failed has prepared goes with the next one.
CREATE OR REPLACE FUNCTION statement_plan(statement text, parameters int) RETURNS text LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET lock_timeout = '100ms' AS $$
DECLARE
        line text;
        plan text;
        nulls text := CASE WHEN parameters > 0 THEN '(NULL' || repeat(', NULL', parameters - 1) || ')' ELSE '' END;
BEGIN
        IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'statement_plan') THEN
                DEALLOCATE statement_plan;
        END IF;
        EXECUTE 'PREPARE statement_plan AS ' || statement;
        FOR line IN EXECUTE 'EXPLAIN EXECUTE statement_plan' || nulls LOOP
                plan := concat_ws(E'\n', plan, line);
        END LOOP;
        DEALLOCATE statement_plan;
        RETURN plan;
END $$;
