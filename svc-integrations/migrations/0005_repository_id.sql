-- The code host's number of the repository that its user can push to. NULL: not known; the code host is asked again.
ALTER TABLE repository_access ADD COLUMN repository_id bigint;
