-- Operations that call outside services have no transaction open meanwhile. They reserve their record, and complete it with
-- the answer (idempotency.h).
--
--   answer          null: the request still runs, or its process has died
--   owner           of the reservation; null: it is complete
--   reserved_until  when another request may take the reservation over
ALTER TABLE idempotency
    ALTER COLUMN answer DROP NOT NULL,
    ADD COLUMN owner uuid,
    ADD COLUMN reserved_until timestamptz,
    ADD CONSTRAINT idempotency_state CHECK ((answer IS NULL) = (owner IS NOT NULL) AND (owner IS NULL) = (reserved_until IS NULL));
