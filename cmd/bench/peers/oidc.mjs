// An OpenID provider in memory that gives access tokens as JWTs, signed with RS256 or as PEER_ALG says.
import { Provider } from 'oidc-provider';
const [host, port] = process.env.PEER_LISTEN.split(':');
const issuer = `http://${host}:${port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: 'bench', client_secret: 'bench-secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [], token_endpoint_auth_method: 'client_secret_post' }],
  scopes: ['tenant'],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'urn:bench',
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: 'tenant', audience: 'tenant', accessTokenTTL: 900, accessTokenFormat: 'jwt' }),
    },
  },
});
provider.listen(Number(port), host);
