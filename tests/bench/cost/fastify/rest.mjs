// Two operations of svc-interests with Fastify and pg: create an interest with the task that builds its pool, and read one.
//
// usage: rest.mjs PORT      with DATABASE_URL; logs each request to standard output
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 12 })
const app = Fastify({ logger: { level: 'info' } })

const body = {
  type: 'object',
  required: ['name', 'context'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    context: { type: 'string', minLength: 1, maxLength: 50000 },
    daily_count: { type: 'integer', minimum: 1, maximum: 50 },
  },
}
const params = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } }

const insert = {
  name: 'insert',
  text: `WITH made AS (INSERT INTO interest (account, name, context, daily_count) VALUES ($1, $2, $3, $4) RETURNING *),
              queued AS (INSERT INTO task (account, kind, input)
                         SELECT $1, 'pool_build', jsonb_build_object('interest', id) FROM made)
         SELECT * FROM made`,
}
const select = { name: 'select', text: 'SELECT * FROM interest WHERE account = $1 AND id = $2' }

app.post('/api/v1.0/interests', { schema: { body } }, async (request, reply) => {
  const { name, context, daily_count: count = 3 } = request.body
  const { rows } = await pool.query({ ...insert, values: [request.headers['x-account'], name, context, count] })
  reply.code(201)
  return rows[0]
})

app.get('/api/v1.0/interests/:id', { schema: { params } }, async (request, reply) => {
  const { rows } = await pool.query({ ...select, values: [request.headers['x-account'], request.params.id] })
  if (rows.length === 0) reply.code(404)
  return rows[0] ?? { detail: 'no such interest' }
})

await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
