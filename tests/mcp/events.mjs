// Reads a session with the `eventsource` package, cut off after every single event: what it got
// altogether has to be the log.
//
//     node events.mjs PATH/TO/roundtable

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { EventSource } from 'eventsource'

const binary = resolve(process.argv[2])
const home = mkdtempSync(join(tmpdir(), 'roundtable-events-'))
const env = { PATH: process.env.PATH, HOME: home }
const data = ['--data-dir', join(home, 'data')]
const run = (...words) => execFileSync(binary, [...words, ...data], { env, stdio: ['ignore', 'pipe', 'ignore'] }).toString()

run('ask', 'What is up?')
const session = JSON.parse(run('sessions', '--json')).session
const log = run('show', session, '--json').trim().split('\n').map((line) => JSON.parse(line))

const server = spawn(binary, ['serve', '--json', '--listen', '127.0.0.1:0', ...data], { env, stdio: ['ignore', 'pipe', 'inherit'] })
const [line] = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next().then((it) => [it.value])
const { url } = JSON.parse(line)

let connections = 0

// Lets one event through, and then the connection is gone.
const cut = async (address, init) => {
  connections += 1
  const response = await fetch(address, init)
  let text = ''
  const stopping = new TransformStream({
    transform(chunk, controller) {
      text += new TextDecoder().decode(chunk)
      const end = text.indexOf('\n\n')
      if (end < 0) return
      controller.enqueue(new TextEncoder().encode(text.slice(0, end + 2)))
      controller.terminate()
    },
  })
  return new Response(response.body.pipeThrough(stopping), { status: response.status, headers: response.headers })
}

const seen = []
await new Promise((done, failed) => {
  const events = new EventSource(`${url}/api/sessions/${session}/events`, {
    fetch: async (address, init) => Object.defineProperty(await cut(address, init), 'url', { value: String(address) }),
  })
  events.onmessage = (event) => {
    seen.push(JSON.parse(event.data))
    if (seen.length >= log.length) {
      events.close()
      done()
    }
  }
  events.onerror = (error) => error.code && failed(error)
})

server.kill('SIGTERM')
await new Promise((ended) => server.on('exit', ended))
rmSync(home, { recursive: true })
if (connections !== log.length) throw new Error(`${connections} connections for ${log.length} events`)
const named = (events) => JSON.stringify(events.map(({ seq, at, kind, v }) => ({ seq, at, kind, v })))
if (named(seen) !== named(log)) throw new Error(`got ${seen.length} events, the log has ${log.length}`)
console.log(`eventsource: ${log.length} events over ${connections} connections, equal to the log`)
