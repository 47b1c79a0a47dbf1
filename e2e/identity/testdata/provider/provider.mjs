// A real identity provider, behind a proxy that speaks TLS: node provider.mjs ISSUER REDIRECT. It says its port. A request for /set changes it:
// clock (by so many seconds it goes wrong), keys (new ones, and the old ones are gone), logout (who is told when somebody signs out).
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const [issuer, redirect] = process.argv.slice(2)
const people = {
  ida: { email: 'ida@corp.example', email_verified: true, given_name: 'Ida', family_name: 'Real', name: 'Ida Real' },
  uma: { email: 'uma@corp.example', email_verified: false },
  noa: { email: 'ida@corp.example', email_verified: true }, // who has the address now
  eve: { email: 'ada.owner@northwind.example', email_verified: true }, // of a domain that is not the company's
}

let skew = 0
let logout
let keys
const now = Date.now
Date.now = () => now() + skew * 1000

let handle
function make() {
  const client = { client_secret: 'a secret of the registration', response_types: ['code'], grant_types: ['authorization_code'] }
  const provider = new Provider(issuer, {
    clients: [{
      ...client, client_id: 'canopy', redirect_uris: [redirect], post_logout_redirect_uris: [new URL('/console/sign-in', redirect).href],
      ...logout && { backchannel_logout_uri: logout, backchannel_logout_session_required: true },
    }, { ...client, client_id: 'another', redirect_uris: ['https://another.example/callback'] }],
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'given_name', 'family_name'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    cookies: { keys: ['one'] },
    jwks: { keys: [keys] },
    ttl: { AuthorizationCode: 24 * 60 * 60 }, // which a wrong clock does not end
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
  })
  provider.proxy = true
  // Its pages ask for a font from elsewhere, which tests do not.
  provider.use(async (ctx, next) => {
    await next()
    if (typeof ctx.body === 'string') ctx.body = ctx.body.replace(/@import url\([^)]*\);?/g, '')
  })
  handle = provider.callback()
}

function renew() {
  keys = { ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }
}

renew()
make()
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, issuer)
  if (pathname !== '/set') return handle(request, response)
  skew = Number(searchParams.get('clock') ?? skew)
  logout = searchParams.get('logout') ?? logout
  if (searchParams.has('keys')) renew()
  if (searchParams.has('keys') || searchParams.has('logout')) make()
  response.end()
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
