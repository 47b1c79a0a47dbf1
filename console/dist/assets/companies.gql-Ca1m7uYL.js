import{t as e}from"./documents-BE1S6YyB.js";var t=e(`fragment company on Customer {
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
}`),c=e(`fragment used on Customer {
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

query Room($id: ID!) {
  customer(id: $id) {
    id
    name
    effectiveCanAddCustomers
    ...used
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
}`),d=e(`fragment used on Customer {
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

query Usage($id: ID!) {
  customer(id: $id) {
    id
    name
    ...used
  }
}`),f=e(`fragment billingRecord on Billing {
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
}`),m=e(`fragment used on Customer {
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
}`),h=e(`fragment fate on Customer {
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
}`),g=e(`fragment fate on Customer {
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
}`),_=e(`fragment fate on Customer {
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
}`),v=e(`fragment fate on Customer {
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
}`),y=e(`fragment above on Customer {
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
}`),b=e(`fragment used on Customer {
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

mutation SetLimits($input: SetLimitsInput!) {
  setLimits(input: $input) {
    customer {
      id
      ...used
    }
  }
}`),x=e(`fragment billingRecord on Billing {
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
}`);export{h as _,l as a,d as b,o as c,s as d,v as f,b as g,x as h,a as i,y as l,c as m,n,_ as o,g as p,r,i as s,f as t,p as u,t as v,m as x,u as y};