// The same work as jobs_runner.c, with BullMQ: jobs of which each commits a row.
//
// usage: jobs.mjs JOBS CONCURRENCY   run as many queued jobs, and print {"seconds", "cpu"}
//        jobs.mjs JOBS latency       queue one after the other, and print {"ms": [...]} from the call to the start of the job
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { Queue, Worker } from 'bullmq'
import pg from 'pg'

const count = Number(process.argv[2])
const isLatency = process.argv[3] === 'latency'
const concurrency = isLatency ? 4 : Number(process.argv[3])
const redis = new URL(process.env.REDIS_URL)
const connection = new Redis({
  host: redis.hostname, port: Number(redis.port), password: redis.password, maxRetriesPerRequest: null,
})
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: Math.min(concurrency, 12) })
const queue = new Queue('bench', { connection })
const options = { connection, concurrency, autorun: false, removeOnComplete: { count: 0 } }

let started, left
const worker = new Worker('bench', async (job) => {
  started?.()
  await pool.query({
    name: 'done', text: 'INSERT INTO done (id, number) VALUES ($1, $2)', values: [job.data.id, job.data.number],
  })
}, options)
const jobs = Array.from({ length: count }, (_, number) => ({ name: 'count', data: { id: randomUUID(), number } }))

async function throughput() {
  for (let i = 0; i < count; i += 1000) await queue.addBulk(jobs.slice(i, i + 1000))
  await Promise.all(Array.from({ length: Math.min(concurrency, 12) }, () => pool.query('SELECT 1')))
  await worker.waitUntilReady()
  left = count
  const finished = new Promise((resolve) => worker.on('completed', () => { if (--left === 0) resolve() }))
  const cpu = process.cpuUsage(), begun = process.hrtime.bigint()
  worker.run()
  await finished
  const used = process.cpuUsage(cpu)
  return { seconds: Number(process.hrtime.bigint() - begun) / 1e9, cpu: (used.user + used.system) / 1e6 }
}

async function latency() {
  const ms = []
  worker.run()
  for (const job of jobs) {
    const begun = process.hrtime.bigint()
    const start = new Promise((resolve) => { started = resolve })
    const completed = new Promise((resolve) => worker.once('completed', resolve))
    await queue.add(job.name, job.data)
    await start
    ms.push(Number(process.hrtime.bigint() - begun) / 1e6)
    await completed
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { ms }
}

console.log(JSON.stringify(await (isLatency ? latency() : throughput())))
process.exit(0)
