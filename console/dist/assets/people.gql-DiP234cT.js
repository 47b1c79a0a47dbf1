import{F as e}from"./index-BHXmJX3t.js";var t=e(`query People($customerId: ID, $subtree: Boolean!, $filter: UserFilter, $after: String) {
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
    firstName
    lastName
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
        databaseId
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
            level
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
        version
        application {
          id
          code
          name
        }
      }
    }
  }
}`),l=e(`mutation CreateRole($input: CreateRoleInput!) {
  createRole(input: $input) {
    role {
      id
    }
  }
}`),u=e(`mutation UpdateRole($input: UpdateRoleInput!) {
  updateRole(input: $input) {
    role {
      id
      name
      description
      features
      version
    }
  }
}`),d=e(`mutation DeleteRole($input: DeleteRoleInput!) {
  deleteRole(input: $input) {
    deletedId
  }
}`),f=e(`mutation Grant($input: CreatePermissionInput!) {
  createPermission(input: $input) {
    permission {
      id
      user {
        id
      }
    }
  }
}`),p=e(`mutation GrantAll($input: CreatePermissionsInput!) {
  createPermissions(input: $input) {
    results {
      index
      error {
        code
        message
      }
      permission {
        id
        user {
          id
        }
      }
    }
  }
}`),m=e(`mutation SetGrantDisabled($input: SetPermissionDisabledInput!) {
  setPermissionDisabled(input: $input) {
    permission {
      id
      disabled
      version
    }
  }
}`),h=e(`mutation TakeGrant($input: DeletePermissionInput!) {
  deletePermission(input: $input) {
    deletedId
  }
}`),g=e(`query Invitations($id: ID!) {
  customer(id: $id) {
    id
    name
    invitations {
      id
      email
      status
      createdAt
      expiresAt
      inviter {
        id
        name
        email
      }
    }
  }
}`),_=e(`mutation ResendInvitation($input: ResendInvitationInput!) {
  resendInvitation(input: $input) {
    user {
      id
    }
    invitation {
      id
      status
      expiresAt
    }
  }
}`),v=e(`mutation WithdrawInvitation($input: WithdrawInvitationInput!) {
  withdrawInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),y=e(`mutation RemovePerson($input: RemoveUserInput!) {
  removeUser(input: $input) {
    deletedId
  }
}`);export{u as _,f as a,a as c,y as d,_ as f,h as g,m as h,n as i,t as l,c as m,l as n,p as o,o as p,d as r,g as s,i as t,r as u,s as v,v as y};