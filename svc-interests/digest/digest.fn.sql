-- The version of what an account's digests show, so that one that has not changed is known without being made. Triggers raise it in
-- the transaction of the change, whichever process writes, and hold its row until the end: no two states have one version.

-- The rows are locked in the order of accounts, as by interest_counted(). A new or deleted interest raises it by interest_count_add().
CREATE OR REPLACE FUNCTION digest_raise(accounts uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM interest_count_add(account, 0, 0) FROM (SELECT DISTINCT account FROM unnest(accounts) AS account ORDER BY account) one;
END $$;

CREATE OR REPLACE FUNCTION digest_interest_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM digest_raise(ARRAY[NEW.account_id]);
    RETURN NULL;
END $$;

-- Most updates of an interest, such as those of its pool, change nothing that a digest shows.
CREATE OR REPLACE TRIGGER digest_interest_changed AFTER UPDATE ON interest FOR EACH ROW
    WHEN ((OLD.name, OLD.daily_count, OLD.pool_status, OLD.context_version, OLD.computed_for, OLD.created_at)
          IS DISTINCT FROM
          (NEW.name, NEW.daily_count, NEW.pool_status, NEW.context_version, NEW.computed_for, NEW.created_at))
    EXECUTE FUNCTION digest_interest_changed();

CREATE OR REPLACE FUNCTION digest_recommendations_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM digest_raise(ARRAY(SELECT account_id FROM changed));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER digest_recommendation_made AFTER INSERT ON recommendation REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION digest_recommendations_changed();
CREATE OR REPLACE TRIGGER digest_recommendation_updated AFTER UPDATE ON recommendation REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION digest_recommendations_changed();
CREATE OR REPLACE TRIGGER digest_recommendation_deleted AFTER DELETE ON recommendation REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION digest_recommendations_changed();

-- Feedback that goes with its recommendation finds none: the recommendation has raised the version. A plan that was made for little
-- feedback is kept for much: it has to find each recommendation by the index.
CREATE OR REPLACE FUNCTION digest_feedback_changed() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM digest_raise(ARRAY(SELECT r.account_id FROM changed c JOIN recommendation r ON r.id = c.recommendation_id));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER digest_feedback_given AFTER INSERT ON feedback REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION digest_feedback_changed();
CREATE OR REPLACE TRIGGER digest_feedback_revoked AFTER DELETE ON feedback REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION digest_feedback_changed();

-- An index by paper, to know the accounts that show one, would cost more than the digests that are made again for it.
CREATE OR REPLACE FUNCTION paper_revised() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE paper_revision SET revision = revision + 1 WHERE EXISTS (SELECT FROM changed);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER paper_revised AFTER UPDATE ON paper REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION paper_revised();

-- The text of the entity tag: what this account's digests show today, of all interests or of the only one that the key may see. The
-- version of the functions stands for what they decide. A table of one row, as the planner takes the body of such a function into the
-- statement, where a value would be planned at each call.
CREATE OR REPLACE FUNCTION digest_tags(account uuid, only_interest uuid) RETURNS TABLE (tag text) LANGUAGE sql STABLE AS $$
    SELECT md5(concat_ws(' ', account, coalesce(only_interest::text, '-'), (now() AT TIME ZONE 'UTC')::date,
                         coalesce((SELECT c.digest_version FROM interest_count c WHERE c.account_id = account), 0),
                         (SELECT revision FROM paper_revision),
                         (SELECT f.version FROM functions f WHERE f.owner = 'svc-interests')))
$$;
