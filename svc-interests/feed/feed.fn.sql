-- A feed as the API shows it; its address is shown only when it is made.
CREATE OR REPLACE FUNCTION feed_json(f feed) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('id', f.id, 'interest_id', f.interest_id, 'min_score', f.min_score, 'person_id', f.person_id,
                              'created_at', time_json(f.created_at))
$$;

-- Make a feed for who has the key `key`. A row of nulls: the account has no such interest. Creations of an account wait for each other, so
-- that it never has more than 20. Violates feed_max, and feed_maker_gone: who makes it has lost their place in the account, of which the
-- gateway that took the request had not heard.
CREATE OR REPLACE FUNCTION feed_make(account uuid, interest uuid, least_score double precision, token_hash bytea, key uuid, person uuid)
RETURNS feed LANGUAGE plpgsql AS $$
DECLARE
    made feed;
BEGIN
    PERFORM account_turn(account);
    IF EXISTS (SELECT FROM feed_maker_gone g WHERE g.account_id = account AND (g.person_id = person OR key = ANY (g.key_ids))
               AND g.gone_at > clock_timestamp() - interval '5 seconds') THEN
        RAISE unique_violation USING MESSAGE = 'they have lost their place in the account', CONSTRAINT = 'feed_maker_gone';
    END IF;
    IF interest IS NOT NULL AND NOT EXISTS (SELECT FROM interest i WHERE i.id = interest AND i.account_id = account) THEN
        RETURN NULL;
    END IF;
    IF (SELECT count(*) FROM feed f WHERE f.account_id = account) >= 20 THEN
        RAISE unique_violation USING MESSAGE = 'the account has 20 feeds', CONSTRAINT = 'feed_max';
    END IF;
    INSERT INTO feed (account_id, interest_id, min_score, hash, key_id, person_id)
    VALUES (account, interest, coalesce(least_score, 0), token_hash, key, person)
    RETURNING * INTO made;
    RETURN made;
END $$;

-- Delete the feeds that a person has made, who knows their addresses, as the gateway tells of them: {"person_id", "key_ids", "is_founder"}.
-- The founder has made those of which it is not noted who did.
CREATE OR REPLACE FUNCTION feeds_of_maker_delete(account uuid, told jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    person uuid := told ->> 'person_id';
    keys uuid[] := ARRAY(SELECT jsonb_array_elements_text(told -> 'key_ids')::uuid);
BEGIN
    PERFORM account_turn(account); -- a feed that is being made is seen, or sees what is noted here
    DELETE FROM feed_maker_gone g WHERE g.gone_at < now() - interval '1 hour';
    INSERT INTO feed_maker_gone (account_id, person_id, key_ids) VALUES (account, person, keys)
    ON CONFLICT (account_id, person_id) DO UPDATE SET key_ids = excluded.key_ids, gone_at = clock_timestamp();
    DELETE FROM feed f
    WHERE f.account_id = account
      AND (f.person_id = person OR f.key_id = ANY (keys) OR f.key_id IS NULL AND (told ->> 'is_founder')::boolean);
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
