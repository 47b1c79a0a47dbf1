import{t as e}from"./documents-BwUiBtMc.js";var t=e(`query People($customerId: ID, $subtree: Boolean!, $filter: UserFilter, $after: String) {
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
}`),o=e(`query Rights($id: ID!) {
  user(id: $id) {
    id
    permissions(first: 100) {
      nodes {
        id
        disabled
        lastAccess
        version
        role {
          id
          name
          isOwner
          features
        }
        application {
          id
          code
          name
        }
        account {
          id
          databaseId
          disabled
          customer {
            id
            databaseId
            name
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`),s=e(`query WhatToGrant($customerId: ID!) {
  customer(id: $customerId) {
    id
    name
    accounts(first: 200) {
      nodes {
        id
        databaseId
        name
        disabled
        application {
          id
          databaseId
          code
          name
        }
      }
    }
    roles {
      id
      databaseId
      name
      description
      applicationId
      isOwner
      features
    }
  }
}`),c=e(`query Roles {
  me {
    customer {
      id
      roles {
        id
        databaseId
        name
        description
        isOwner
        features
        customerId
        application {
          id
          code
          name
        }
      }
    }
  }
}`),l=e(`mutation Grant($input: CreatePermissionInput!) {
  createPermission(input: $input) {
    permission {
      id
      user {
        id
      }
    }
  }
}`),u=e(`mutation SetGrantDisabled($input: SetPermissionDisabledInput!) {
  setPermissionDisabled(input: $input) {
    permission {
      id
      disabled
      version
    }
  }
}`),d=e(`mutation TakeGrant($input: DeletePermissionInput!) {
  deletePermission(input: $input) {
    deletedId
  }
}`),f=e(`mutation ResendInvitation($input: ResendInvitationInput!) {
  resendInvitation(input: $input) {
    user {
      id
    }
  }
}`),p=e(`mutation RemovePerson($input: RemoveUserInput!) {
  removeUser(input: $input) {
    deletedId
  }
}`);export{t as a,f as c,u as d,d as f,a as i,o as l,n,r as o,s as p,l as r,p as s,i as t,c as u};