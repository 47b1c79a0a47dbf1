// Verifies deliveries with the library of Standard Webhooks as it comes from npm. The input is JSON: the
// deliveries, each with the secrets of receivers that have to take it, and of those that have not.
// Prints one line for each verdict.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'

for (const { name, headers, body, good, bad } of JSON.parse(readFileSync(process.argv[2]))) {
  for (const secret of good) {
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body))
    assert.throws(() => new Webhook(secret).verify(body + ' ', headers))
    console.log(`ok ${name}: verified`)
  }
  for (const secret of bad) {
    assert.throws(() => new Webhook(secret).verify(body, headers), /signature/i)
    console.log(`ok ${name}: refused`)
  }
}
