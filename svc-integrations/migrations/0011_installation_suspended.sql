-- Since when the installation is suspended, as the code host told; NULL: it is not.
ALTER TABLE installation ADD COLUMN suspended_at timestamptz;
