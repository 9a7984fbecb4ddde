-- The numbers of changes, which replicas follow (indexing/follower.h): in the order in which they are committed, so writers of papers
-- wait for each other, by a lock on an empty table. Of vectors they are drawn from the same sequence, and new versions of the embedder
-- are heard of in the same way.

CREATE OR REPLACE FUNCTION asset_lock_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE asset_change_order IN EXCLUSIVE MODE;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION asset_number_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.change := nextval('asset_change');
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION asset_tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('asset_changed', '');
    RETURN NULL;
END $$;

-- A new paper has its number by the default of the column, which costs less than a trigger.
CREATE OR REPLACE TRIGGER asset_lock BEFORE INSERT OR UPDATE ON asset
    FOR EACH STATEMENT EXECUTE FUNCTION asset_lock_changes();
CREATE OR REPLACE TRIGGER asset_number BEFORE UPDATE ON asset
    FOR EACH ROW EXECUTE FUNCTION asset_number_change();
CREATE OR REPLACE TRIGGER asset_tell AFTER INSERT OR UPDATE ON asset
    FOR EACH STATEMENT EXECUTE FUNCTION asset_tell_change();
CREATE OR REPLACE TRIGGER asset_vector_lock BEFORE INSERT OR UPDATE ON asset_vector
    FOR EACH STATEMENT EXECUTE FUNCTION asset_lock_changes();
CREATE OR REPLACE TRIGGER asset_vector_number BEFORE INSERT OR UPDATE ON asset_vector
    FOR EACH ROW EXECUTE FUNCTION asset_number_change();
CREATE OR REPLACE TRIGGER embedder_tell AFTER INSERT OR UPDATE ON embedder
    FOR EACH STATEMENT EXECUTE FUNCTION asset_tell_change();
