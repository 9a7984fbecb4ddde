-- When the first and the last of `refusals` counted (connection/connection.fn.sql); null: a version that did not note it counted them.
ALTER TABLE connection ADD COLUMN refused_since timestamptz, ADD COLUMN refused_at timestamptz;
