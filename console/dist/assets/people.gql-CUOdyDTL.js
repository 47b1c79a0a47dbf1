import{t as e}from"./documents-BlQmYAKy.js";var t=e(`query People($customerId: ID, $subtree: Boolean!, $filter: UserFilter, $after: String) {
  users(
    customerId: $customerId
    subtree: $subtree
    filter: $filter
    first: 100
    after: $after
  ) {
    nodes {
      id
      databaseId
      name
      email
      hasPassword
      lastAccess
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),n=e(`query FindPeople($text: String!) {
  search(text: $text, types: [USER], first: 6) {
    ... on User {
      id
      databaseId
      name
      email
    }
  }
}`),r=e(`query Person($id: ID!) {
  user(id: $id) {
    id
    databaseId
    name
    email
    createdAt
    hasPassword
    otpMethod
    lastAccess
    customers(first: 50) {
      nodes {
        id
        databaseId
        name
        path
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`),i=e(`query CompanyName($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    name
  }
}`),a=e(`mutation InvitePeople($input: CreateUsersInput!) {
  createUsers(input: $input) {
    results {
      index
      error {
        code
        message
      }
      user {
        id
      }
    }
  }
}`);export{r as a,t as i,n,a as r,i as t};