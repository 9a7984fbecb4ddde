-- Writers of papers wait for each other by a lock on this empty table, in place of an advisory lock, which other roles of
-- the database could hold.
CREATE TABLE asset_change_order ();

CREATE OR REPLACE FUNCTION asset_lock_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE asset_change_order IN EXCLUSIVE MODE;
    RETURN NULL;
END $$;
