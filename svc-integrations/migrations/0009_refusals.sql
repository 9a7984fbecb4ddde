-- Refusals of a refresh token in a row that were not in the form of RFC 6749.
ALTER TABLE connection ADD COLUMN refusals int NOT NULL DEFAULT 0;
