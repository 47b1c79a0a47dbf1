// Asks the platform for tokens with clients that real integrators use, and calls an endpoint with
// each. Prints one line for each client.
import assert from 'node:assert/strict'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { ClientCredentials } from 'simple-oauth2'

const [url, id, secret] = process.argv.slice(2)
const issuer = new URL(url)
const insecure = { [oauth.allowInsecureRequests]: true }

async function works(name, token, type) {
  assert.equal(type.toLowerCase(), 'bearer')
  const answer = await fetch(new URL('/tenant', url), { headers: { authorization: `Bearer ${token}` } })
  assert.equal(answer.status, 200, `${name}: GET /tenant answered ${answer.status}`)
  console.log(`ok ${name}`)
}

for (const [name, auth] of [
  ['oauth4webapi, Basic', oauth.ClientSecretBasic(secret)],
  ['oauth4webapi, form', oauth.ClientSecretPost(secret)],
]) {
  const server = await oauth.processDiscoveryResponse(
    issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }))
  const client = { client_id: id }
  const parameters = new URLSearchParams({ target_app: 'tenant' })
  const response = await oauth.clientCredentialsGrantRequest(server, client, auth, parameters, insecure)
  const result = await oauth.processClientCredentialsResponse(server, client, response)
  assert.equal(result.expires_in, 900)
  await works(name, result.access_token, result.token_type)

  const request = new Request(new URL('/tenant', url), { headers: { authorization: `Bearer ${result.access_token}` } })
  const claims = await oauth.validateJwtAccessToken(server, request, 'tenant', insecure)
  assert.equal(claims.client_id, id)
  console.log(`ok ${name}: the token is a valid RFC 9068 one by the published keys`)
}

{
  const config = await openid.discovery(issuer, id, secret, openid.ClientSecretPost(secret),
    { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] })
  const result = await openid.clientCredentialsGrant(config, { target_app: 'tenant' })
  await works('openid-client', result.access_token, result.token_type)
}

{
  const client = new ClientCredentials({
    client: { id, secret },
    auth: { tokenHost: url, tokenPath: '/connect/token' },
    options: { authorizationMethod: 'header' },
  })
  const { token } = await client.getToken({ target_app: 'tenant' })
  await works('simple-oauth2', token.access_token, token.token_type)
}
