-- original-sha256: 2c51f37b728f88f2306049e6795684e0df958e845f3fa483ef35a1d38b897d88
--
-- The newest run of a repository is the newest one that the service knows, whoever told of it.
--
--   told_at     when the code host was asked for what is in `told`
--   changed_at  when a run was last started from here
ALTER TABLE run_status ADD COLUMN changed_at timestamptz;
