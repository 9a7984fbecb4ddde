-- name: repository_renamed(number, name, former, version, web_url)
-- :former is the name before (NULL: unknown), :version that of the event, :web_url the address of the code host's pages.
SELECT repository_renamed(:number, :name, :former, :version, :web_url);

-- name: repository_forgotten(number)
SELECT repository_forgotten(:number);

-- name: repository_named(name, number) (read)
-- A :number of NULL: unknown.
SELECT repository_named(:name, :number);

-- name: repository_is_same(one, other) (read)
SELECT repository_key(:one) = repository_key(:other);
