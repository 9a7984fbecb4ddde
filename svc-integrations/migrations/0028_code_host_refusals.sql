-- How often in a row the provider has not accepted the token of a connection, and when that was counted last (connection/token.sql).
ALTER TABLE connection ADD COLUMN unaccepted integer NOT NULL DEFAULT 0, ADD COLUMN unaccepted_at timestamptz;

-- How many tokens that are kept were made for the account in the hour, and pages of lists read (app/installation.sql).
ALTER TABLE installation_lookup ADD COLUMN tokens integer NOT NULL DEFAULT 0, ADD COLUMN lists integer NOT NULL DEFAULT 0;

-- When a dispatch whose answer was lost was last sent again (repository/dispatch.sql); null: it was not.
ALTER TABLE dispatch ADD COLUMN sent_again_at timestamptz;
