-- The list of experiments, with its filters and for limited keys.

-- Ids of the experiments that every given filter lets through; a null filter lets all through.
CREATE OR REPLACE FUNCTION experiment_found(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                 came_via text, with_tag text, is_actionable boolean, only_repo text) RETURNS TABLE (id uuid)
LANGUAGE sql STABLE AS $$
    SELECT e.id FROM experiment e
    WHERE e.account_id = account
      AND (in_project IS NULL OR e.project_id = in_project AND EXISTS (SELECT FROM project p WHERE p.id = in_project))
      AND (with_status IS NULL OR e.status = with_status)
      AND (with_source IS NULL OR e.ticket_source = with_source)
      AND (with_ticket IS NULL OR e.external_ticket_id = with_ticket)
      AND (came_via IS NULL OR e.created_via = came_via)
      AND (with_tag IS NULL OR with_tag = ANY (e.tags))
      AND (NOT is_actionable OR (e.launch_context IS NOT NULL AND e.pr_url IS NULL))
      AND (only_repo IS NULL OR lower(coalesce(e.launch_context ->> 'target_repo', only_repo)) = lower(only_repo))
$$;

-- A page of them, newest first, and how many there are. Planned anew for each call, so that the filters that were not
-- given vanish and those that were choose the index. The page's ids come from the index alone, rows are read for it only.
-- Always by an index: reading the whole table looks cheap only while most of it is one account's.
CREATE OR REPLACE FUNCTION experiment_page_filtered(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                came_via text, with_tag text, is_actionable boolean, only_repo text, page_limit bigint, page_offset bigint,
                                OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
BEGIN
    SELECT count(*) INTO total
    FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, with_tag, is_actionable, only_repo);
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM (SELECT found.id
          FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, with_tag, is_actionable,
                                only_repo) found
          ORDER BY found.id DESC LIMIT page_limit OFFSET page_offset) one
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;

CREATE OR REPLACE FUNCTION experiment_page(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                came_via text, with_tag text, is_actionable boolean, only_repo text, page_limit bigint, page_offset bigint,
                                OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    IF coalesce(in_project::text, with_status, with_source, with_ticket, came_via, with_tag, only_repo) IS NOT NULL OR is_actionable THEN
        SELECT filtered.total, filtered.page INTO total, page
        FROM experiment_page_filtered(account, in_project, with_status, with_source, with_ticket, came_via, with_tag, is_actionable,
                                      only_repo, page_limit, page_offset) AS filtered;
        RETURN;
    END IF;
    SELECT count(*) INTO total FROM experiment e WHERE e.account_id = account;
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM (SELECT e.id FROM experiment e WHERE e.account_id = account ORDER BY e.id DESC LIMIT page_limit OFFSET page_offset) one
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;

-- Whether an experiment is one of a limited key. A null `only_repo`: the key has no limit to a repository. `only_project` is the
-- project of the interest that it is limited to, or null. A project that was deleted has no experiments.
CREATE OR REPLACE FUNCTION experiment_is_of_key(e experiment, only_repo text, only_project uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN only_repo IS NOT NULL AND nullif(e.launch_context ->> 'target_repo', '') IS NOT NULL
                THEN repository_key(e.launch_context ->> 'target_repo') = repository_key(only_repo)
                ELSE coalesce(e.project_id = only_project, false) AND EXISTS (SELECT FROM project p WHERE p.id = only_project) END
$$;

-- A page of the experiments of a limited key, newest first, and how many there are; other filters as of experiment_page().
CREATE OR REPLACE FUNCTION experiment_page_of_key(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                       came_via text, with_tag text, is_actionable boolean, only_repo text, only_project uuid,
                                       page_limit bigint, page_offset bigint, OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    ids uuid[];
BEGIN
    ids := ARRAY(
        SELECT e.id
        FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, with_tag, is_actionable, NULL)
        JOIN experiment e USING (id)
        WHERE experiment_is_of_key(e, only_repo, only_project)
        ORDER BY e.id DESC);
    total := cardinality(ids);
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM (SELECT u.id FROM unnest(ids) WITH ORDINALITY AS u (id, place) ORDER BY u.place LIMIT page_limit OFFSET page_offset) AS one
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;
