-- As before, in PL/pgSQL: the plan of an SQL function with its own FROM is made anew for each call, which took longer than all
-- else in an INSERT of a small row.
CREATE OR REPLACE FUNCTION uuid_v7() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
DECLARE
    us bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
    RETURN encode(overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send(us / 1000) FROM 3) || int2send((28672 + us % 1000 * 4096 / 1000)::smallint)
        FROM 1 FOR 8), 'hex')::uuid;
END $$;
