// A receiver of webhooks. usage: receiver.mjs HOST; prints its port, and answers the lines `count`, `times` (milliseconds
// from the body's `timestamp` to the arrival, of each) and `reset` on standard input.
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

let times = []
const server = createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    times.push(Date.now() - Date.parse(JSON.parse(Buffer.concat(parts)).timestamp))
    response.writeHead(204).end()
  })
})
const ANSWERS = { count: () => times.length, times: () => times, reset: () => (times = []) }
server.listen(0, process.argv[2], () => console.log(server.address().port))
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(ANSWERS[line]()))
process.exit(0)
