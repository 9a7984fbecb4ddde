-- Who persons are, for what names them by an id: also those who are no members any more.

-- A person as an account may know them: as a member, or as they were when they ceased to be one. `deleted`: all that is left is that
-- somebody was there. Null: they never were a member.
CREATE OR REPLACE FUNCTION person_named(account uuid, person uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('person_id', p.id, 'email', p.email, 'name', p.name, 'status', 'member')
    FROM member m JOIN person p ON p.id = m.person_id WHERE m.account_id = account AND m.person_id = person
    UNION ALL
    SELECT jsonb_build_object('person_id', f.person_id, 'email', f.email, 'name', f.name,
                              'status', CASE WHEN f.email IS NULL THEN 'deleted' ELSE 'former' END)
    FROM former_member f WHERE f.account_id = account AND f.person_id = person
$$;

-- The person of a personal key. A key without one belongs to the person whose own account it is in.
CREATE OR REPLACE FUNCTION key_person(account uuid, key uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT coalesce(o.person_id, CASE WHEN k.account_id = account THEN account_person(account) END)
    FROM api_key k LEFT JOIN api_key_person o ON o.key_id = k.id WHERE k.id = key AND k.kind = 'personal'
    UNION ALL
    SELECT f.person_id FROM former_key f WHERE f.id = key
$$;

-- Who is meant by ids of persons and of personal keys, a JSON array: [{"id", "person_id", "email", "name", "status"}]. Those of others are
-- left out.
CREATE OR REPLACE FUNCTION people_named(account uuid, ids jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('id', wanted.id) || wanted.named ORDER BY wanted.id), '[]')
    FROM (SELECT one.id, person_named(account, coalesce(key_person(account, one.id), one.id)) AS named
          FROM (SELECT DISTINCT value::uuid AS id FROM jsonb_array_elements_text(ids)) one) wanted
    WHERE wanted.named IS NOT NULL
$$;
