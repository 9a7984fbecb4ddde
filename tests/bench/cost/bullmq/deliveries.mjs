// The peer of deliveries.py: jobs that sign a message as Standard Webhooks asks and post it.
//
// usage: deliveries.mjs URL RATE SECONDS; prints {"cpu"}, that of queueing included
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { Queue, Worker } from 'bullmq'
import { Pool } from 'undici'

const [url, rate, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]
const redis = new URL(process.env.REDIS_URL)
const connection = new Redis({
  host: redis.hostname, port: Number(redis.port), password: redis.password, maxRetriesPerRequest: null,
})
const queue = new Queue('deliveries', { connection })
const pool = new Pool(new URL(url).origin, { connections: 128 })
const key = randomBytes(32)
const account = randomUUID()
const data = { run_id: 'r'.repeat(36), repo: 'bench/1', status: 'succeeded', url: '/console/?run=r' }

const worker = new Worker('deliveries', async (job) => {
  const body = JSON.stringify(job.data), time = Math.floor(Date.now() / 1000)
  const mac = createHmac('sha256', key).update(`${job.data.id}.${time}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json', 'webhook-id': job.data.id, 'webhook-timestamp': time, 'webhook-signature': `v1,${mac}`,
  }
  const { body: answer } = await pool.request({ path: '/', method: 'POST', headers, body })
  await answer.dump()
}, { connection, concurrency: 128, removeOnComplete: { count: 0 } })
await worker.waitUntilReady()

const total = rate * seconds, step = Math.max(Math.floor(rate / 100), 1)
let left = total
const finished = new Promise((resolve) => worker.on('completed', () => { if (--left === 0) resolve() }))
const cpu = process.cpuUsage(), begun = performance.now()
for (let first = 0; first < total; first += step) {
  const timestamp = new Date().toISOString()
  await queue.addBulk(Array.from({ length: step }, () => ({
    name: 'message',
    data: { id: `msg_${randomUUID().replaceAll('-', '')}`, type: 'run.finished', timestamp, account_id: account, data },
  })))
  const wait = begun + ((first + step) / rate) * 1000 - performance.now()
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
}
await finished
const used = process.cpuUsage(cpu)
console.log(JSON.stringify({ cpu: (used.user + used.system) / 1e6 }))
process.exit(0)
