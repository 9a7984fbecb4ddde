-- Add a batch of entries to their streams; none where a newer sender has sent, or Redis has other batches than it should have.
--
-- KEYS: fence_key, batch_key (tasks.h)
-- ARGV: the fence of the sender's lease, the newest batch that was sent, the newest that was numbered, the number of this
--       one or 0, then for each entry its stream, the number of words that follow, and those: names and values of its
--       fields
-- Returns {enum publication_outcome, number}.
local fence = tonumber(redis.call('GET', KEYS[1]) or '0')
local batch = tonumber(redis.call('GET', KEYS[2]) or '0')
if fence > tonumber(ARGV[1]) then return {1, fence} end
redis.call('SET', KEYS[1], ARGV[1])
if batch < tonumber(ARGV[2]) then return {2, batch} end
if batch > tonumber(ARGV[3]) then return {3, batch} end
local i, added = 5, 0
while i <= #ARGV do
    local stream, count = ARGV[i], tonumber(ARGV[i + 1])
    redis.call('XADD', stream, '*', unpack(ARGV, i + 2, i + 1 + count))
    added = added + 1
    i = i + 2 + count
end
if ARGV[4] ~= '0' then redis.call('SET', KEYS[2], ARGV[4]) end
return {0, added}
