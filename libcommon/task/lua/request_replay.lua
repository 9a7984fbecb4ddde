-- Request a replay of a stream. Of several requests the earliest `from` and the latest `to` are kept.
--
-- KEYS: that of the request, `from to`
-- ARGV: from, to, in ms
local known = redis.call('GET', KEYS[1])
local from, to = ARGV[1], ARGV[2]
if known then
    local known_from, known_to = string.match(known, '^(%-?%d+) (%-?%d+)$')
    if known_from and tonumber(known_from) < tonumber(from) then from = known_from end
    if known_to and tonumber(known_to) > tonumber(to) then to = known_to end
end
return redis.call('SET', KEYS[1], from .. ' ' .. to)
