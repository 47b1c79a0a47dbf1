import{B as e}from"./index-BRDmGs58.js";var t=e(`query People($customerId: ID, $subtree: Boolean!, $filter: UserFilter, $after: String) {
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
}`),n=e(`query WithoutRights($since: DateTime!) {
  users(
    filter: {createdSince: $since}
    orderBy: [{field: CREATED_AT, direction: DESC}]
    first: 50
  ) {
    nodes {
      id
      databaseId
      name
      email
      permissions(first: 1) {
        nodes {
          id
        }
      }
    }
  }
}`),r=e(`query FindPeople($text: String!) {
  search(text: $text, types: [USER], first: 6) {
    ... on User {
      id
      databaseId
      name
      email
    }
  }
}`),i=e(`query Person($id: ID!) {
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
}`),a=e(`query CompanyName($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    name
  }
}`),o=e(`mutation InvitePeople($input: CreateUsersInput!) {
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
}`),s=e(`query Rights($id: ID!) {
  user(id: $id) {
    id
    name
    email
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
}`),c=e(`query WhatToGrant($customerId: ID!) {
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
}`),l=e(`query Roles {
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
}`),u=e(`mutation CreateRole($input: CreateRoleInput!) {
  createRole(input: $input) {
    role {
      id
    }
  }
}`),d=e(`mutation UpdateRole($input: UpdateRoleInput!) {
  updateRole(input: $input) {
    role {
      id
      name
      description
      features
      version
    }
  }
}`),f=e(`mutation DeleteRole($input: DeleteRoleInput!) {
  deleteRole(input: $input) {
    deletedId
  }
}`),p=e(`mutation Grant($input: CreatePermissionInput!) {
  createPermission(input: $input) {
    permission {
      id
      user {
        id
      }
    }
  }
}`),m=e(`mutation GrantAll($input: CreatePermissionsInput!) {
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
}`),h=e(`mutation SetGrantDisabled($input: SetPermissionDisabledInput!) {
  setPermissionDisabled(input: $input) {
    permission {
      id
      disabled
      version
    }
  }
}`),g=e(`mutation TakeGrant($input: DeletePermissionInput!) {
  deletePermission(input: $input) {
    deletedId
  }
}`),_=e(`query Invitations($id: ID!) {
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
}`),v=e(`mutation ResendInvitation($input: ResendInvitationInput!) {
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
}`),y=e(`mutation WithdrawInvitation($input: WithdrawInvitationInput!) {
  withdrawInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),b=e(`mutation RemovePerson($input: RemoveUserInput!) {
  removeUser(input: $input) {
    deletedId
  }
}`);export{d as _,p as a,n as b,o as c,b as d,v as f,g,h,r as i,t as l,l as m,u as n,m as o,s as p,f as r,_ as s,a as t,i as u,c as v,y};