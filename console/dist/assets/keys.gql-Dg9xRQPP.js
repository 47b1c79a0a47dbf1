import{B as e}from"./index-BRDmGs58.js";var t=e(`query Keys($after: String) {
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
}`),n=e(`query Actors($customerId: ID!, $subtree: Boolean! = false, $search: String) {
  users(
    customerId: $customerId
    subtree: $subtree
    filter: {search: $search}
    first: 50
  ) {
    nodes {
      id
      databaseId
      name
      email
    }
  }
}`),r=e(`query Actor($id: ID!) {
  user(id: $id) {
    id
    databaseId
    name
    email
  }
}`),i=e(`mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    apiKey {
      id
    }
    clientId
    clientSecret
  }
}`),a=e(`mutation RotateKey($input: RotateApiKeySecretInput!) {
  rotateApiKeySecret(input: $input) {
    apiKey {
      id
    }
    clientId
    clientSecret
    graceEndsAt
  }
}`),o=e(`mutation RevokeKey($input: RevokeApiKeyInput!) {
  revokeApiKey(input: $input) {
    apiKey {
      id
      revokedAt
    }
  }
}`);export{o as a,t as i,n,a as o,i as r,r as t};