-- Lists for a key that is limited to a repository: without the experiments whose target is another one. Names of
-- repositories are compared without case.
DROP FUNCTION experiment_page(uuid, uuid, text, text, text, text, boolean, bigint, bigint);
DROP FUNCTION experiment_found(uuid, uuid, text, text, text, text, boolean);

-- Ids of the experiments that every given filter lets through; a null filter lets all through.
CREATE FUNCTION experiment_found(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                 came_via text, is_actionable boolean, only_repo text) RETURNS TABLE (id uuid) LANGUAGE sql STABLE AS $$
    SELECT e.id FROM experiment e
    WHERE e.account_id = account
      AND (in_project IS NULL OR e.project_id = in_project)
      AND (with_status IS NULL OR e.status = with_status)
      AND (with_source IS NULL OR e.ticket_source = with_source)
      AND (with_ticket IS NULL OR e.external_ticket_id = with_ticket)
      AND (came_via IS NULL OR e.created_via = came_via)
      AND (NOT is_actionable OR (e.launch_context IS NOT NULL AND e.pr_url IS NULL))
      AND (only_repo IS NULL OR lower(coalesce(e.launch_context ->> 'target_repo', only_repo)) = lower(only_repo))
$$;

-- A page of them, newest first, and how many there are. Planned anew for each call, so that the filters that were not
-- given vanish and those that were choose the index. The page's ids come from the index alone, rows are read for it only.
-- Always by an index: reading the whole table looks cheap only while most of it is one account's.
CREATE FUNCTION experiment_page(account uuid, in_project uuid, with_status text, with_source text, with_ticket text,
                                came_via text, is_actionable boolean, only_repo text, page_limit bigint, page_offset bigint,
                                OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
BEGIN
    SELECT count(*) INTO total
    FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable, only_repo);
    SELECT coalesce(json_agg(experiment_json(e, p.name) ORDER BY e.id DESC), '[]') INTO page
    FROM (SELECT found.id
          FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, is_actionable, only_repo) found
          ORDER BY found.id DESC LIMIT page_limit OFFSET page_offset) one
    JOIN experiment e USING (id) LEFT JOIN project p ON p.id = e.project_id;
END $$;
