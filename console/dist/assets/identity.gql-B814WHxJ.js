import{B as e}from"./index-BRDmGs58.js";var t=e(`fragment providerRow on IdentityProvider {
  id
  databaseId
  name
  issuer
  clientId
  domains
  claims {
    domain
    status
    recordName
    recordValue
  }
  defaultRole {
    id
    name
    application {
      id
      code
    }
  }
  required
  enabled
  redirectUri
  backchannelLogoutUri
  version
}

query Providers {
  me {
    customer {
      id
      identityProviders(inherited: false) {
        ...providerRow
      }
    }
  }
  roles {
    id
    name
    isOwner
    features
    application {
      id
      code
      name
    }
  }
}`),n=e(`fragment scimTokenRow on ScimToken {
  id
  databaseId
  name
  features
  createdAt
  expiresAt
  lastUsedAt
  lastChangedAt
  createdBy {
    id
    name
    email
  }
}

query ScimTokens {
  me {
    customer {
      id
      scimTokens {
        ...scimTokenRow
      }
    }
  }
}`),r=e(`fragment providerRow on IdentityProvider {
  id
  databaseId
  name
  issuer
  clientId
  domains
  claims {
    domain
    status
    recordName
    recordValue
  }
  defaultRole {
    id
    name
    application {
      id
      code
    }
  }
  required
  enabled
  redirectUri
  backchannelLogoutUri
  version
}

mutation CreateProvider($input: CreateIdentityProviderInput!) {
  createIdentityProvider(input: $input) {
    identityProvider {
      ...providerRow
    }
  }
}`),i=e(`fragment providerRow on IdentityProvider {
  id
  databaseId
  name
  issuer
  clientId
  domains
  claims {
    domain
    status
    recordName
    recordValue
  }
  defaultRole {
    id
    name
    application {
      id
      code
    }
  }
  required
  enabled
  redirectUri
  backchannelLogoutUri
  version
}

mutation UpdateProvider($input: UpdateIdentityProviderInput!) {
  updateIdentityProvider(input: $input) {
    identityProvider {
      ...providerRow
    }
  }
}`),a=e(`mutation DeleteProvider($input: DeleteIdentityProviderInput!) {
  deleteIdentityProvider(input: $input) {
    deletedId
  }
}`),o=e(`fragment providerRow on IdentityProvider {
  id
  databaseId
  name
  issuer
  clientId
  domains
  claims {
    domain
    status
    recordName
    recordValue
  }
  defaultRole {
    id
    name
    application {
      id
      code
    }
  }
  required
  enabled
  redirectUri
  backchannelLogoutUri
  version
}

mutation VerifyDomain($input: VerifyIdentityDomainInput!) {
  verifyIdentityDomain(input: $input) {
    identityProvider {
      ...providerRow
    }
  }
}`),s=e(`fragment scimTokenRow on ScimToken {
  id
  databaseId
  name
  features
  createdAt
  expiresAt
  lastUsedAt
  lastChangedAt
  createdBy {
    id
    name
    email
  }
}

mutation CreateScimToken($input: CreateScimTokenInput!) {
  createScimToken(input: $input) {
    scimToken {
      ...scimTokenRow
    }
    token
  }
}`),c=e(`mutation DeleteScimToken($input: DeleteScimTokenInput!) {
  deleteScimToken(input: $input) {
    deletedId
  }
}`);export{t as a,o as c,c as i,s as n,n as o,a as r,i as s,r as t};