import{t as e}from"./documents-BHIUc6pT.js";var t=e(`fragment company on Customer {
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
}`),a=e(`query Company($id: ID!) {
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
    children(first: 1) {
      totalCount
      totalCountCapped
      nodes {
        id
      }
    }
  }
}`),o=e(`query MayGrow($id: ID!) {
  customer(id: $id) {
    id
    databaseId
    effectiveCanAddCustomers
  }
}`),s=e(`query Regions {
  regions {
    id
    databaseId
    name
    description
  }
}`),c=e(`query Room($id: ID!) {
  customer(id: $id) {
    id
    name
    effectiveCanAddCustomers
    usage {
      name
      used
      limit
      limitedBy {
        id
        name
      }
    }
  }
}`),l=e(`mutation CreateCompany($input: CreateCustomerInput!) {
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
}`),u=e(`mutation UpdateCompany($input: UpdateCustomerInput!) {
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
}`),d=e(`query Usage($id: ID!) {
  customer(id: $id) {
    id
    name
    usage {
      name
      used
      limit
      limitedBy {
        id
        databaseId
        name
      }
    }
  }
}`),f=e(`query Billing($id: ID!) {
  customer(id: $id) {
    id
    name
    billing {
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
  }
}`),p=e(`query PlacesToMove($search: String!, $after: String) {
  customers(filter: {search: $search, status: ACTIVE}, first: 50, after: $after) {
    nodes {
      id
      databaseId
      name
      path
      descendantsCanAdd
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),m=e(`query WhatIsBelow($id: ID!) {
  customer(id: $id) {
    id
    descendants(first: 1) {
      totalCount
      totalCountCapped
      nodes {
        id
      }
    }
    usage {
      name
      used
      limit
      limitedBy {
        id
        name
      }
    }
  }
}`),h=e(`mutation SuspendCompany($input: SuspendCustomerInput!) {
  suspendCustomer(input: $input) {
    customer {
      id
      status
      effectiveStatus
      eraseAt
    }
  }
}`),g=e(`mutation ResumeCompany($input: ResumeCustomerInput!) {
  resumeCustomer(input: $input) {
    customer {
      id
      status
      effectiveStatus
      eraseAt
    }
  }
}`),_=e(`mutation DeleteCompany($input: DeleteCustomerInput!) {
  deleteCustomer(input: $input) {
    deletedId
    customer {
      id
      status
      effectiveStatus
      eraseAt
      parent {
        id
      }
    }
  }
}`),v=e(`mutation RestoreCompany($input: RestoreCustomerInput!) {
  restoreCustomer(input: $input) {
    customer {
      id
      status
      effectiveStatus
      eraseAt
      parent {
        id
      }
    }
  }
}`),y=e(`mutation MoveCompany($input: MoveCustomerInput!) {
  moveCustomer(input: $input) {
    customer {
      id
      path
      level
      effectiveCanAddCustomers
      effectiveStatus
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
  }
}`),b=e(`mutation SetLimits($input: SetLimitsInput!) {
  setLimits(input: $input) {
    customer {
      id
      usage {
        name
        used
        limit
        limitedBy {
          id
          databaseId
          name
        }
      }
    }
  }
}`),x=e(`mutation SaveBilling($input: SaveBillingInput!) {
  saveBilling(input: $input) {
    billing {
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
  }
}`);export{h as _,l as a,d as b,o as c,s as d,v as f,b as g,x as h,a as i,y as l,c as m,n,_ as o,g as p,r,i as s,f as t,p as u,t as v,m as x,u as y};