-- Delete a request for a replay that was answered, unless a newer one has taken its place.
--
-- KEYS: that of the request
-- ARGV: the request that was answered
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
