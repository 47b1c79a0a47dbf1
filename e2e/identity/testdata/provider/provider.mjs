// A real identity provider, behind a proxy that speaks TLS: node provider.mjs ISSUER REDIRECT LOGOUT. It says its port.
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const [issuer, redirect, logout] = process.argv.slice(2)
const people = {
  ida: { email: 'ida@corp.example', email_verified: true, given_name: 'Ida', family_name: 'Real', name: 'Ida Real' },
  uma: { email: 'uma@corp.example', email_verified: false },
}
const provider = new Provider(issuer, {
  clients: [{
    client_id: 'canopy', client_secret: 'a secret of the registration', redirect_uris: [redirect], response_types: ['code'], grant_types: ['authorization_code'],
    post_logout_redirect_uris: [new URL('/console/sign-in', redirect).href],
    ...logout && { backchannel_logout_uri: logout, backchannel_logout_session_required: true },
  }],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'given_name', 'family_name'] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  cookies: { keys: ['one'] },
  fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
})
provider.proxy = true
// Its pages ask for a font from elsewhere, which tests do not.
provider.use(async (ctx, next) => {
  await next()
  if (typeof ctx.body === 'string') ctx.body = ctx.body.replace(/@import url\([^)]*\);?/g, '')
})
const server = createServer(provider.callback())
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
