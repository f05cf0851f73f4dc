// Uses the OpenAI-compatible endpoint with OpenAI's own SDK for JavaScript.
//
//     node client.mjs http://127.0.0.1:PORT TOKEN
//
// Run by crates/roundtable-server/tests/it/openai/sdk.rs; `cargo xtask interop` installs the package.
// The supervisor asks for the weather first and answers "Sunny in Paris." then.

import assert from 'node:assert/strict'
import OpenAI from 'openai'

const [address, apiKey] = process.argv.slice(2)
const answer = 'Sunny in Paris.'
const messages = [{ role: 'user', content: 'How is the weather?' }]
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const tools = [{ type: 'function', function: { name: 'weather', description: 'The weather.', parameters } }]
const client = new OpenAI({ apiKey, baseURL: `${address}/v1`, maxRetries: 0 })
const create = (more) => client.chat.completions.create({ model: 'chat', messages, ...more })

const names = []
for await (const model of client.models.list()) names.push(model.id)
assert.ok(names.includes('chat') && names.includes('debate:council'), names.join())

const plain = await create({})
assert.equal(plain.choices[0].message.content, answer)
assert.ok(plain.usage.total_tokens > 0)

let text = ''
let usage
for await (const part of await create({ stream: true, stream_options: { include_usage: true } })) {
  text += part.choices[0]?.delta.content ?? ''
  usage = part.usage ?? usage
}
assert.equal(text, answer)
assert.ok(usage.total_tokens > 0)

// The SDK runs the tools and sends their results by itself.
const weather = { ...tools[0].function, parse: JSON.parse, function: ({ city }) => `22 degrees in ${city}` }
const runner = client.chat.completions.runTools({ model: 'chat', messages, tools: [{ type: 'function', function: weather }] })
assert.equal(await runner.finalContent(), answer)

const called = await client.chat.completions.stream({ model: 'chat', messages, tools }).finalChatCompletion()
assert.equal(called.choices[0].finish_reason, 'tool_calls')
assert.deepEqual(JSON.parse(called.choices[0].message.tool_calls[0].function.arguments), { city: 'Paris' })

await assert.rejects(create({ model: 'gpt-9' }), OpenAI.NotFoundError)
await assert.rejects(create({ n: 2 }), OpenAI.BadRequestError)

// Who stops reading stops the round; the server goes on.
const stream = await create({ stream: true })
for await (const part of stream) {
  assert.ok(part.id)
  stream.controller.abort()
  break
}
assert.equal((await create({})).choices[0].message.content, answer)
console.log('ok: openai for JavaScript')
