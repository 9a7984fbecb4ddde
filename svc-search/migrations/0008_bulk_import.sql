-- Papers come in faster.

-- Writers end first, then readers, which lock the keys before the papers: no two wait for each other in a circle.
LOCK TABLE asset IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE asset_key IN ACCESS EXCLUSIVE MODE;

-- Drawn for new papers by a default instead of a trigger; after the lock, which is taken before the first row is read.
ALTER TABLE asset ALTER change SET DEFAULT nextval('asset_change');
DROP TRIGGER asset_number ON asset;
CREATE TRIGGER asset_number BEFORE UPDATE ON asset
    FOR EACH ROW EXECUTE FUNCTION asset_number_change();

-- Rows of up to half a page are stored as they are: compressing them saves little.
ALTER TABLE asset SET (toast_tuple_target = 4080);

-- Papers are never deleted, and only triggers write their keys.
ALTER TABLE asset_key DROP CONSTRAINT asset_key_arxiv_id_fkey;

-- Takes the rows of the transition table `counted` into the lists (argument 1) or out of them (argument -1). An INSERT
-- with ON CONFLICT fires the triggers of UPDATE, too, often with no row.
CREATE FUNCTION asset_list_rows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign CONSTANT int := TG_ARGV[0];
BEGIN
    IF NOT EXISTS (SELECT FROM counted) THEN
        RETURN NULL;
    END IF;
    IF sign < 0 THEN
        DELETE FROM asset_key WHERE arxiv_id IN (SELECT arxiv_id FROM counted);
    END IF;
    WITH listed AS MATERIALIZED (
        SELECT a.arxiv_id, key, a.published_at, a.has_container, key = ANY (a.categories) AS is_named,
               CASE WHEN key = '' THEN (a.reference_summary->>'total')::numeric END AS reference,
               CASE WHEN key = '' THEN (a.reference_summary->>'classified')::numeric END AS classified
        FROM counted a, list_keys(a.categories) key WHERE NOT a.is_deleted
    ), inserted AS (
        INSERT INTO asset_key (arxiv_id, key, published_at, has_container)
        SELECT arxiv_id, key, published_at, has_container FROM listed WHERE sign > 0
    )
    INSERT INTO asset_count AS c (key, has_container, papers, named, reference, classified)
    SELECT key, has_container, sign * count(*), sign * count(*) FILTER (WHERE is_named),
           sign * coalesce(sum(reference), 0), sign * coalesce(sum(classified), 0)
    FROM listed GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (key, has_container) DO UPDATE
    SET papers = c.papers + excluded.papers, named = c.named + excluded.named,
        reference = c.reference + excluded.reference, classified = c.classified + excluded.classified;
    RETURN NULL;
END $$;

DROP TRIGGER asset_count_inserted ON asset;
DROP TRIGGER asset_count_updated_from ON asset;
DROP TRIGGER asset_count_updated_to ON asset;
DROP FUNCTION asset_count_rows();
CREATE TRIGGER asset_list_inserted AFTER INSERT ON asset REFERENCING NEW TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('1');
CREATE TRIGGER asset_list_updated_from AFTER UPDATE ON asset REFERENCING OLD TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('-1');
CREATE TRIGGER asset_list_updated_to AFTER UPDATE ON asset REFERENCING NEW TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('1');
