// Asks the platform and listens to it with clients that front ends use. Prints one line for each
// check. The control server gives tokens that live as long as asked for, revokes their key, and
// restarts the platform.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, fetchExchange } from '@urql/core'
import { createClient as createEvents } from 'graphql-sse'
import { createClient as createSocket } from 'graphql-ws'
import WebSocket from 'ws'

const [url, control, driver] = process.argv.slice(2)
const watch = 'subscription { auditEvent { objectId } }'

const ask = async (what) => (await fetch(new URL(what, control), { method: 'POST' })).text()
const token = (life = '15m') => ask(`/token?life=${life}`)

let changes = 0
async function change() {
  changes++
  const body = JSON.stringify({ customerId: 1, name: `Renamed ${changes}` })
  const headers = { authorization: `Bearer ${driver}`, 'content-type': 'application/json' }
  const answer = await fetch(new URL('/tenant', url), { method: 'PUT', headers, body })
  assert.equal(answer.status, 204, await answer.text())
}

// Makes changes until something has happened.
async function until(what, happened) {
  for (let i = 0; i < 400; i++) {
    if (happened()) return
    await change()
    await sleep(50)
  }
  assert.fail(`${what} has not happened`)
}

function ok(name) {
  console.log(`ok ${name}`)
}

// A subscription with what it was told: events, errors and its end.
function listen(client) {
  const told = { events: 0, codes: [], end: undefined }
  client.subscribe({ query: watch }, {
    next(result) {
      if (result.data?.auditEvent) told.events++
      for (const error of result.errors ?? []) told.codes.push(error.extensions.code)
    },
    error(reason) { told.end = { reason } },
    complete() { told.end = {} },
  })
  return told
}

// A client of WebSockets with the codes that its connections were closed with.
function socket(tokens) {
  const closed = []
  const client = createSocket({
    url: url.replace('http', 'ws') + '/graphql',
    webSocketImpl: WebSocket,
    connectionParams: async () => ({ authorization: `Bearer ${await tokens()}` }),
    retryWait: () => sleep(500),
    on: { closed: (event) => closed.push(event.code) },
  })
  return { client, closed }
}

{
  const types = []
  const bearer = await token()
  const client = new Client({
    url: `${url}/graphql`,
    exchanges: [fetchExchange],
    fetchSubscriptions: true,
    fetchOptions: () => ({ headers: { authorization: `Bearer ${bearer}` } }),
    async fetch(...request) {
      const response = await fetch(...request)
      types.push(response.headers.get('content-type'))
      return response
    },
  })
  const query = await client.query('query Own { customer { name } }', {}).toPromise()
  assert.equal(query.error, undefined)
  assert.ok(query.data.customer.name)
  const mutation = await client.mutation('mutation Rename { updateCustomer(input: { customerId: 1, name: "Once" }) { customer { name } } }', {}).toPromise()
  assert.equal(mutation.data?.updateCustomer.customer.name, 'Once', mutation.error?.message)
  assert.deepEqual(types, ['application/graphql-response+json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'])
  ok('urql: queries and mutations by JSON')

  const events = []
  const { unsubscribe } = client.subscription(watch, {}).subscribe((result) => events.push(result))
  await until('an event', () => events.length > 0)
  unsubscribe()
  assert.equal(events[0].error, undefined)
  assert.match(types[2], /^text\/event-stream/)
  ok('urql: a subscription by events')
}

{
  let given = 0
  const { client, closed } = socket(() => token(given++ === 0 ? '3s' : '15m'))
  const told = listen(client)
  await until('an event', () => told.events > 0)
  await until('the end of the token', () => closed.length > 0)
  assert.deepEqual(closed, [4403])
  assert.deepEqual(told.codes, ['UNAUTHENTICATED'])
  const before = told.events
  await until('an event after it', () => told.events > before)
  assert.equal(given, 2)
  assert.equal(told.end, undefined)
  await client.dispose()
  ok('graphql-ws: goes on with a fresh token when one has run out')
}

{
  const { client, closed } = socket(token)
  const told = listen(client)
  await until('an event', () => told.events > 0)
  await ask('/revoke')
  await until('the end', () => told.end && closed.length > 0)
  assert.equal(told.end.reason[0].extensions.code, 'UNAUTHENTICATED')
  assert.deepEqual(closed, [4401])
  const again = listen(client)
  await until('an event of the next one', () => again.events > 0)
  await client.dispose()
  ok('graphql-ws: hears of a key that was revoked, and begins again with another')
}

{
  const { client, closed } = socket(token)
  const told = listen(client)
  const events = createEvents({
    url: `${url}/graphql`,
    headers: async () => ({ authorization: `Bearer ${await token()}` }),
    retry: () => sleep(500),
  })
  const streamed = listen(events)
  await until('events', () => told.events > 0 && streamed.events > 0)
  await ask('/restart')
  const before = [told.events, streamed.events]
  await until('events after a restart', () => told.events > before[0] && streamed.events > before[1])
  assert.deepEqual(closed, [1012])
  assert.deepEqual([told.codes, streamed.codes, told.end, streamed.end], [[], [], undefined, undefined])
  await client.dispose()
  events.dispose()
  ok('graphql-ws and graphql-sse: go on after a restart')
}
process.exit(0)
