import{R as e}from"./index-B4LrNSIY.js";var t=e(`fragment company on Customer {
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
}`),i=e(`query FindCompanies($text: String!) {
  search(text: $text, types: [CUSTOMER], first: 6) {
    ... on Customer {
      id
      databaseId
      name
      path
    }
  }
}`),a=e(`fragment above on Customer {
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
}`),o=e(`query Accounts($id: ID!) {
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
}`),s=e(`mutation SetAccountDisabled($input: SetAccountDisabledInput!) {
  setAccountDisabled(input: $input) {
    account {
      id
      disabled
    }
  }
}`),c=e(`query MayGrow($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    effectiveCanAddCustomers
  }
}`),l=e(`query Regions {
  regions {
    id
    databaseId
    name
    description
  }
}`),u=e(`fragment used on Customer {
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
}`),d=e(`mutation CreateCompany($input: CreateCustomerInput!) {
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
}`),f=e(`mutation UpdateCompany($input: UpdateCustomerInput!) {
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
}`),p=e(`fragment used on Customer {
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
}`),m=e(`fragment billingRecord on Billing {
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
}`),h=e(`fragment used on Customer {
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
}`),_=e(`query DefaultLimits {
  operations {
    defaultLimits {
      name
      limit
    }
  }
}`),v=e(`query TenantApplication {
  applications {
    id
    code
  }
}`),y=e(`query WhoReaches($of: [PermissionFilter!]!, $tenant: ID!) {
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
}`),b=e(`fragment used on Customer {
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
}`),x=e(`fragment fate on Customer {
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
}`),S=e(`fragment fate on Customer {
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
}`),C=e(`fragment fate on Customer {
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
}`),w=e(`fragment fate on Customer {
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
}`),T=e(`fragment above on Customer {
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
}`),E=e(`fragment used on Customer {
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
}`),D=e(`fragment billingRecord on Billing {
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
}`);export{t as C,y as D,b as E,v as S,p as T,u as _,a,E as b,C as c,T as d,h as f,S as g,w as h,r as i,i as l,l as m,m as n,d as o,g as p,n as r,_ as s,o as t,c as u,D as v,f as w,x,s as y};