-- Names of repositories, as the code host tells them with their numbers (service/repository_name.h).
--
--   told_at  when the code host had last changed the repository that had this name; null: it did not say
ALTER TABLE repository ADD COLUMN told_at timestamptz;
