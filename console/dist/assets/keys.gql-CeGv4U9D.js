import{t as e}from"./documents-BE1S6YyB.js";var t=e(`query Keys($after: String) {
  me {
    customer {
      id
      apiKeys(first: 100, after: $after) {
        nodes {
          id
          databaseId
          clientId
          name
          createdAt
          expiresAt
          revokedAt
          lastUsedAt
          features
          allowedAddresses
          user {
            id
            name
            email
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
}`),n=e(`mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    apiKey {
      id
    }
    clientId
    clientSecret
  }
}`),r=e(`mutation RotateKey($input: RotateApiKeySecretInput!) {
  rotateApiKeySecret(input: $input) {
    apiKey {
      id
    }
    clientId
    clientSecret
    graceEndsAt
  }
}`),i=e(`mutation RevokeKey($input: RevokeApiKeyInput!) {
  revokeApiKey(input: $input) {
    apiKey {
      id
      revokedAt
    }
  }
}`);export{r as i,t as n,i as r,n as t};