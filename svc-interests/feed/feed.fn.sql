-- A feed as the API shows it; its address is shown only when it is made.
CREATE OR REPLACE FUNCTION feed_json(f feed) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('id', f.id, 'interest_id', f.interest_id, 'min_score', f.min_score, 'created_at', time_json(f.created_at))
$$;

-- Make a feed. A row of nulls: the account has no such interest. Creations of an account wait for each other, so that it never has more
-- than 20.
CREATE OR REPLACE FUNCTION feed_new(account uuid, interest uuid, least_score double precision, token_hash bytea) RETURNS feed
LANGUAGE plpgsql AS $$
DECLARE
    made feed;
BEGIN
    PERFORM account_turn(account);
    IF interest IS NOT NULL AND NOT EXISTS (SELECT FROM interest i WHERE i.id = interest AND i.account_id = account) THEN
        RETURN NULL;
    END IF;
    IF (SELECT count(*) FROM feed f WHERE f.account_id = account) >= 20 THEN
        RAISE unique_violation USING MESSAGE = 'the account has 20 feeds', CONSTRAINT = 'feed_max';
    END IF;
    INSERT INTO feed (account_id, interest_id, min_score, hash) VALUES (account, interest, coalesce(least_score, 0), token_hash)
    RETURNING * INTO made;
    RETURN made;
END $$;

-- The newest 50 papers of a feed. In PL/pgSQL with two statements, as each needs another index.
CREATE OR REPLACE FUNCTION feed_recommendations(f feed) RETURNS SETOF recommendation LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF f.interest_id IS NOT NULL THEN
        RETURN QUERY SELECT r.* FROM recommendation r
            WHERE r.interest_id = f.interest_id AND r.relevance_score >= f.min_score
            ORDER BY r.recommended_at DESC, r.id DESC LIMIT 50;
    ELSE
        RETURN QUERY SELECT r.* FROM recommendation r
            WHERE r.account_id = f.account_id AND r.relevance_score >= f.min_score
            ORDER BY r.recommended_at DESC, r.id DESC LIMIT 50;
    END IF;
END $$;
