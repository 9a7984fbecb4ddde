-- As before, in PL/pgSQL, which keeps the plan: the plan of an SQL function with its own INSERT is made anew in each statement.
CREATE OR REPLACE FUNCTION event_emit(stream text, type text, account uuid, data jsonb, request_id text DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    id uuid;
BEGIN
    INSERT INTO outbox (stream, type, account_id, data, request_id)
    VALUES ($1, $2, $3, $4, coalesce($5, request_id_now())) RETURNING event_id INTO id;
    RETURN id;
END $$;
