-- An account is one user; its id is the user_id of the whole cluster.
CREATE TABLE account (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    email       text NOT NULL,
    is_operator boolean NOT NULL DEFAULT false, -- may hold service:any_user and assets:write
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX account_email ON account (lower(email));

-- First answers go with their account: none is kept for one that is deleted, not even by a request under way.
ALTER TABLE idempotency ADD CONSTRAINT idempotency_account FOREIGN KEY (account_id) REFERENCES account ON DELETE CASCADE;
