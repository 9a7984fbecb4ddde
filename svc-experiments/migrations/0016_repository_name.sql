-- Experiments and their runs follow a repository that is renamed (service/repository_name.h).
CREATE INDEX experiment_by_target ON experiment USING hash (lower(launch_context ->> 'target_repo'))
    WHERE launch_context ->> 'target_repo' IS NOT NULL;
