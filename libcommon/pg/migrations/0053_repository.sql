-- What names of repositories mean. At the code host a repository is its number; the name changes when it is renamed or transferred,
-- and a former name leads to it until another repository takes that. A service keeps what it has of a repository under the name, and
-- moves it when svc-integrations, the only one that sees the numbers, tells of another name (the event repository_name,
-- service/repository_name.h).
--
--   name     now, as the code host writes it; `_/NUMBER`, which no repository is called, when another one has taken its name and its
--            new one is not known yet
--   version  of the event that told the name; it rises with each such event, about whichever repository
CREATE TABLE repository (
    number  bigint PRIMARY KEY,
    name    text NOT NULL,
    version bigint NOT NULL
);

CREATE UNIQUE INDEX repository_by_name ON repository (lower(name));

-- Names that repositories had, in lower case, and that no other has taken since.
CREATE TABLE repository_former (
    name   text PRIMARY KEY CHECK (name = lower(name)),
    number bigint NOT NULL
);

-- Locks on names: one row for each name that rows were stored under, never changed. It has the hash of the name, so that it tells
-- nothing of a repository whose account was deleted.
CREATE TABLE repository_guard (
    hash uuid PRIMARY KEY
);
