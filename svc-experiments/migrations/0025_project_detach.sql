-- Experiments of a deleted project have it until a task has let them go: project_join() says which may join one (project.fn.sql).
ALTER TABLE experiment DROP CONSTRAINT experiment_project;
