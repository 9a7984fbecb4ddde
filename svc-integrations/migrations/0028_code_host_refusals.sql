-- Since when the code host has not accepted the token of a connection (app/access.sql); null: it does, or was not asked.
ALTER TABLE connection ADD COLUMN unaccepted_since timestamptz;

-- How many tokens that are kept were made for the account in the hour (app/installation.sql).
ALTER TABLE installation_lookup ADD COLUMN tokens integer NOT NULL DEFAULT 0;

-- When a dispatch whose answer was lost was last sent again (repository/dispatch.sql); null: it was not.
ALTER TABLE dispatch ADD COLUMN sent_again_at timestamptz;
