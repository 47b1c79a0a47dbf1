// Serves an empty PostgreSQL with pgvector, in memory, until its standard input ends. It says at which port.
//
// All connections share its one session. Whoever has the turn keeps it until what it has begun is over: up to the Sync of an extended query, and through a
// transaction. So statements of two connections never mix, as they do where each message takes its own turn.
//
// Making an empty database takes seconds, so it is made once and kept beside this file.
import { createServer } from 'node:net'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'

const kept = 'empty.tar'
if (!existsSync(kept)) {
  const empty = await PGlite.create({ extensions: { vector } })
  const bytes = Buffer.from(await (await empty.dumpDataDir('none')).arrayBuffer())
  writeFileSync(`${kept}.${process.pid}`, bytes)
  renameSync(`${kept}.${process.pid}`, kept) // whole, whoever else does the same
  await empty.close()
}
const db = await PGlite.create({ extensions: { vector }, loadDataDir: new Blob([readFileSync(kept)]) })
const sync = Buffer.from([0x53, 0, 0, 0, 4])
const cancelRequest = 80877102
const waiting = []
let holder = null

function turn(who) {
  if (holder !== null && holder !== who) return new Promise((go) => waiting.push({ who, go }))
  holder = who
}

function pass() {
  const next = waiting.shift()
  holder = next ? next.who : null
  next?.go()
}

// messages cuts what a client sends. The first has no letter of its type.
async function* messages(socket) {
  let rest = Buffer.alloc(0)
  let letter = 0
  for await (const piece of socket) {
    rest = Buffer.concat([rest, piece])
    while (rest.length >= letter + 4 && rest.length >= letter + rest.readInt32BE(letter)) {
      const end = letter + rest.readInt32BE(letter)
      yield { type: rest.toString('latin1', 0, letter), bytes: rest.subarray(0, end) }
      rest = rest.subarray(end)
      letter = 1
    }
  }
}

async function serve(socket) {
  socket.on('error', () => {}) // of one that is gone
  for await (const { type, bytes } of messages(socket)) {
    if (type === 'X' || (type === '' && bytes.readInt32BE(4) === cancelRequest)) break
    await turn(socket)
    await db.execProtocolRawStream(bytes, { onRawData: (answer) => socket.write(Buffer.from(answer)) })
    if ('QSp'.includes(type) && !db.isInTransaction()) pass()
  }
}

async function leave(socket) {
  socket.destroy()
  if (holder !== socket) return
  await db.execProtocolRaw(sync)
  if (db.isInTransaction()) await db.exec('ROLLBACK')
  pass()
}

const server = createServer((socket) => serve(socket).catch(() => {}).finally(() => leave(socket)))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.on('end', () => process.exit(0)).resume()
