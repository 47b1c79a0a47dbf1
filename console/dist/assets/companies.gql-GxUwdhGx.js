import{t as e}from"./documents-B5eT6-LS.js";var t=e(`fragment company on Customer {
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
}`),o=e(`query Regions {
  regions {
    id
    databaseId
    name
    description
  }
}`),s=e(`query Room($id: ID!) {
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
}`),c=e(`mutation CreateCompany($input: CreateCustomerInput!) {
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
}`),l=e(`mutation UpdateCompany($input: UpdateCustomerInput!) {
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
}`);export{i as a,t as c,c as i,l,r as n,o,a as r,s,n as t};