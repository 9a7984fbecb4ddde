-- The papers of an experiment, each in a row.
CREATE OR REPLACE FUNCTION experiment_papers_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM experiment_paper WHERE experiment_id = NEW.id AND arxiv_id <> ALL (NEW.arxiv_ids);
    INSERT INTO experiment_paper (account_id, arxiv_id, experiment_id)
    SELECT NEW.account_id, arxiv_id, NEW.id FROM unnest(NEW.arxiv_ids) AS about (arxiv_id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER papers_follow AFTER INSERT OR UPDATE OF arxiv_ids ON experiment
    FOR EACH ROW EXECUTE FUNCTION experiment_papers_follow();
