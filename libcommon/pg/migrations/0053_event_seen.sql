-- The former version deletes old rows of this table while it is replaced. Drop it when that version is no longer `deploy/former`.
COMMENT ON TABLE event_seen IS 'Not used; kept for the former version.';
