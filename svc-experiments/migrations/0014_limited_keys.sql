-- Experiments of keys that are limited to a repository, an interest or both: what belongs to neither is not theirs. It takes the place
-- of the filter `only_repo` of experiment_page(), which let experiments without a target pass and stays for the former version.

-- Whether an experiment is one of a limited key. A null `only_repo`: the key has no limit to a repository. `only_project` is the
-- project of the interest that it is limited to, or null.
CREATE FUNCTION experiment_is_of_key(e experiment, only_repo text, only_project uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN only_repo IS NOT NULL AND nullif(e.launch_context ->> 'target_repo', '') IS NOT NULL
                THEN lower(e.launch_context ->> 'target_repo') = lower(only_repo)
                ELSE coalesce(e.project_id = only_project, false) END
$$;

-- A page of the experiments of a limited key, newest first, and how many there are; other filters as of experiment_page().
CREATE FUNCTION experiment_page_of_key(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                       came_via text, is_actionable boolean, only_repo text, only_project uuid,
                                       page_limit bigint, page_offset bigint, OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    ids uuid[];
BEGIN
    ids := ARRAY(
        SELECT e.id
        FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable, NULL)
        JOIN experiment e USING (id)
        WHERE experiment_is_of_key(e, only_repo, only_project)
        ORDER BY e.id DESC);
    total := cardinality(ids);
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM unnest(ids[page_offset + 1 : page_offset + page_limit]) AS one (id)
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;
