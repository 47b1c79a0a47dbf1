import{B as e}from"./index-BRDmGs58.js";var t=e(`fragment company on Customer {
  id
  databaseId
  name
  status
  level
  children(first: 1) {
    nodes {
      id
    }
  }
}

query Top($id: ID) {
  customer(id: $id) {
    ...company
  }
}`),n=e(`fragment company on Customer {
  id
  databaseId
  name
  status
  level
  children(first: 1) {
    nodes {
      id
    }
  }
}

query Children($id: ID!, $after: String) {
  customer(id: $id) {
    id
    children(first: 100, after: $after) {
      nodes {
        ...company
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`),r=e(`query CompaniesByName($search: String!, $after: String) {
  customers(filter: {search: $search}, first: 50, after: $after) {
    nodes {
      id
      databaseId
      name
      status
      path
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),i=e(`query DeletedCompanies {
  customers(filter: {status: DELETED}, first: 200) {
    nodes {
      id
      name
      path
      eraseAt
    }
  }
}`),a=e(`query FindCompanies($text: String!) {
  search(text: $text, types: [CUSTOMER], first: 6) {
    ... on Customer {
      id
      databaseId
      name
      path
    }
  }
}`),o=e(`fragment above on Customer {
  parent {
    id
    databaseId
    name
  }
  ancestors {
    id
    databaseId
    name
    level
    customer {
      id
    }
  }
}

query Company($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    name
    path
    level
    status
    effectiveStatus
    canAddCustomers
    descendantsCanAdd
    effectiveCanAddCustomers
    createdAt
    eraseAt
    version
    region {
      id
      name
    }
    ...above
    children(first: 1) {
      totalCount
      totalCountCapped
      nodes {
        id
      }
    }
  }
}`),s=e(`query Accounts($id: ID!) {
  customer(id: $id) {
    id
    accounts(first: 200) {
      nodes {
        id
        databaseId
        disabled
        application {
          id
          code
          name
        }
      }
    }
  }
}`),c=e(`mutation SetAccountDisabled($input: SetAccountDisabledInput!) {
  setAccountDisabled(input: $input) {
    account {
      id
      disabled
    }
  }
}`),l=e(`query MayGrow($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    effectiveCanAddCustomers
  }
}`),u=e(`query Regions {
  regions {
    id
    databaseId
    name
    description
  }
}`),d=e(`fragment used on Customer {
  usage {
    name
    used
    limit
    own
    limitedBy {
      id
      databaseId
      name
    }
  }
}

query Room($id: ID!) {
  customer(id: $id) {
    id
    name
    effectiveStatus
    descendantsCanAdd
    ...flagsAbove
    ...used
  }
}

fragment flagsAbove on Customer {
  ancestors {
    id
    databaseId
    name
    customer {
      id
      name
      descendantsCanAdd
    }
  }
}`),f=e(`mutation CreateCompany($input: CreateCustomerInput!) {
  createCustomer(input: $input) {
    customer {
      id
      databaseId
      name
      parent {
        id
      }
    }
    admin {
      id
    }
  }
}`),p=e(`mutation UpdateCompany($input: UpdateCustomerInput!) {
  updateCustomer(input: $input) {
    customer {
      id
      name
      canAddCustomers
      descendantsCanAdd
      effectiveCanAddCustomers
      version
    }
  }
}`),m=e(`fragment used on Customer {
  usage {
    name
    used
    limit
    own
    limitedBy {
      id
      databaseId
      name
    }
  }
}

query Usage($id: ID!) {
  customer(id: $id) {
    id
    name
    ...used
  }
}`),h=e(`fragment billingRecord on Billing {
  id
  billingName
  businessId
  taxId
  addressLine1
  addressLine2
  city
  state
  zipCode
  countryCode
  version
}

query Billing($id: ID!) {
  customer(id: $id) {
    id
    name
    billing {
      ...billingRecord
    }
  }
}`),g=e(`fragment used on Customer {
  usage {
    name
    used
    limit
    own
    limitedBy {
      id
      databaseId
      name
    }
  }
}

fragment flagsAbove on Customer {
  ancestors {
    id
    databaseId
    name
    customer {
      id
      name
      descendantsCanAdd
    }
  }
}

query Moving($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    name
    path
    canAddCustomers
    effectiveCanAddCustomers
    region {
      id
      name
    }
    parent {
      id
      databaseId
      name
    }
    ...flagsAbove
    descendants(first: 1) {
      totalCount
      totalCountCapped
      nodes {
        id
      }
    }
    own: identityProviders(inherited: false) {
      id
      name
    }
    serving: identityProviders {
      id
      name
    }
    ...used
  }
}`),_=e(`fragment used on Customer {
  usage {
    name
    used
    limit
    own
    limitedBy {
      id
      databaseId
      name
    }
  }
}

fragment flagsAbove on Customer {
  ancestors {
    id
    databaseId
    name
    customer {
      id
      name
      descendantsCanAdd
    }
  }
}

query Place($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    level
    name
    path
    effectiveStatus
    descendantsCanAdd
    ...flagsAbove
    serving: identityProviders {
      id
      name
    }
    ...used
  }
}`),v=e(`query DefaultLimits {
  operations {
    defaultLimits {
      name
      limit
    }
  }
}`),y=e(`query TenantApplication {
  applications {
    id
    code
  }
}`),b=e(`query WhoReaches($of: [PermissionFilter!]!, $tenant: ID!) {
  permissions(
    filter: {applicationId: $tenant, disabled: false, or: $of}
    first: 200
  ) {
    nodes {
      id
      user {
        id
        name
        email
      }
      role {
        id
        name
        isOwner
        features
      }
      account {
        id
        disabled
        customer {
          id
          name
        }
      }
    }
    pageInfo {
      hasNextPage
    }
  }
}`),x=e(`fragment used on Customer {
  usage {
    name
    used
    limit
    own
    limitedBy {
      id
      databaseId
      name
    }
  }
}

query WhatIsBelow($id: ID!) {
  customer(id: $id) {
    id
    descendants(first: 1) {
      totalCount
      totalCountCapped
      nodes {
        id
      }
    }
    ...used
  }
}`),S=e(`fragment fate on Customer {
  id
  status
  effectiveStatus
  eraseAt
}

mutation SuspendCompany($input: SuspendCustomerInput!) {
  suspendCustomer(input: $input) {
    customer {
      ...fate
    }
  }
}`),C=e(`fragment fate on Customer {
  id
  status
  effectiveStatus
  eraseAt
}

mutation ResumeCompany($input: ResumeCustomerInput!) {
  resumeCustomer(input: $input) {
    customer {
      ...fate
    }
  }
}`),w=e(`fragment fate on Customer {
  id
  status
  effectiveStatus
  eraseAt
}

mutation DeleteCompany($input: DeleteCustomerInput!) {
  deleteCustomer(input: $input) {
    deletedId
    customer {
      ...fate
      parent {
        id
      }
    }
  }
}`),T=e(`fragment fate on Customer {
  id
  status
  effectiveStatus
  eraseAt
}

mutation RestoreCompany($input: RestoreCustomerInput!) {
  restoreCustomer(input: $input) {
    customer {
      ...fate
      parent {
        id
      }
    }
  }
}`),E=e(`fragment above on Customer {
  parent {
    id
    databaseId
    name
  }
  ancestors {
    id
    databaseId
    name
    level
    customer {
      id
    }
  }
}

mutation MoveCompany($input: MoveCustomerInput!) {
  moveCustomer(input: $input) {
    customer {
      id
      path
      level
      effectiveCanAddCustomers
      effectiveStatus
      ...above
    }
  }
}`),D=e(`fragment used on Customer {
  usage {
    name
    used
    limit
    own
    limitedBy {
      id
      databaseId
      name
    }
  }
}

mutation SetLimits($input: SetLimitsInput!) {
  setLimits(input: $input) {
    customer {
      id
      ...used
    }
  }
}`),O=e(`fragment billingRecord on Billing {
  id
  billingName
  businessId
  taxId
  addressLine1
  addressLine2
  city
  state
  zipCode
  countryCode
  version
}

mutation SaveBilling($input: SaveBillingInput!) {
  saveBilling(input: $input) {
    billing {
      ...billingRecord
    }
  }
}`);export{y as C,x as D,m as E,b as O,S,p as T,C as _,o as a,c as b,w as c,l as d,E as f,T as g,u as h,r as i,i as l,_ as m,h as n,f as o,g as p,n as r,v as s,s as t,a as u,d as v,t as w,D as x,O as y};