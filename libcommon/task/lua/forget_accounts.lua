-- Delete the entries of accounts from a stream.
--
-- KEYS: the stream
-- ARGV: the accounts
local is_deleted = {}
for _, account in ipairs(ARGV) do is_deleted[account] = true end
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
    for i = 1, #entry[2], 2 do
        if entry[2][i] == 'account' and is_deleted[entry[2][i + 1]] then
            redis.call('XDEL', KEYS[1], entry[1])
        end
    end
end
return 1
