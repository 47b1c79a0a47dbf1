import{B as e}from"./index-BRDmGs58.js";var t=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

query Agents($filter: AgentFilter, $orderBy: [AgentOrder!], $after: String) {
  me {
    customer {
      id
      agents(filter: $filter, orderBy: $orderBy, first: 100, after: $after) {
        nodes {
          ...agentRow
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
}`),n=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

query AgentsOf($customerId: ID!, $filter: AgentFilter, $orderBy: [AgentOrder!], $after: String) {
  customer(id: $customerId) {
    id
    agents(filter: $filter, orderBy: $orderBy, first: 100, after: $after) {
      nodes {
        ...agentRow
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`),r=e(`query AgentNames {
  me {
    customer {
      id
      agents(orderBy: [{field: NAME}], first: 200) {
        nodes {
          id
          databaseId
          name
        }
      }
    }
  }
}`),i=e(`query FindAgents($text: String!) {
  search(text: $text, types: [AGENT], first: 6) {
    ... on Agent {
      id
      databaseId
      agentName: name
      account {
        id
        customer {
          id
          name
        }
      }
      lastRuns: runs(first: 2) {
        nodes {
          id
          jobKey
          status
        }
      }
    }
  }
}`),a=e(`query FindRuns($text: String!) {
  search(text: $text, types: [RUN], first: 6) {
    ... on Run {
      id
      jobKey
      status
      createdAt
      agent {
        id
        name
      }
    }
  }
}`),o=e(`query AgentName($id: ID!) {
  agent(id: $id) {
    id
    name
  }
}`),s=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

query Agent($id: ID!) {
  agent(id: $id) {
    ...agentRow
    createdAt
    draft
    published {
      id
      diagram
    }
    account {
      id
      customer {
        id
        name
      }
    }
  }
}`),c=e(`query Revisions($id: ID!, $after: String) {
  agent(id: $id) {
    id
    revisions(first: 100, after: $after) {
      nodes {
        id
        number
        createdAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}`),l=e(`query Revision($id: ID!) {
  node(id: $id) {
    ... on AgentRevision {
      id
      number
      diagram
      createdAt
    }
  }
}`),u=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

mutation CreateAgent($input: CreateAgentInput!) {
  createAgent(input: $input) {
    agent {
      ...agentRow
    }
  }
}`),d=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

mutation SaveAgent($input: UpdateAgentInput!) {
  updateAgent(input: $input) {
    agent {
      ...agentRow
      draft
    }
  }
}`),f=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

mutation PublishAgent($input: PublishAgentInput!) {
  publishAgent(input: $input) {
    agent {
      ...agentRow
      published {
        id
        diagram
      }
    }
  }
}`),p=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

mutation UnpublishAgent($input: UnpublishAgentInput!) {
  unpublishAgent(input: $input) {
    agent {
      ...agentRow
    }
  }
}`),m=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

mutation EnableAgent($input: EnableAgentInput!) {
  enableAgent(input: $input) {
    agent {
      ...agentRow
    }
  }
}`),h=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

mutation DisableAgent($input: DisableAgentInput!) {
  disableAgent(input: $input) {
    agent {
      ...agentRow
    }
  }
}`),g=e(`mutation DeleteAgent($input: DeleteAgentInput!) {
  deleteAgent(input: $input) {
    deletedId
  }
}`),_=e(`fragment agentRow on Agent {
  id
  databaseId
  name
  enabled
  runnable
  updatedAt
  version
  published {
    id
    number
    createdAt
  }
}

mutation RestoreAgent($input: RestoreAgentInput!) {
  restoreAgent(input: $input) {
    agent {
      ...agentRow
    }
  }
}`),v=e(`query CheckDiagram($diagram: JSON!) {
  diagramCheck(diagram: $diagram) {
    faults {
      location
      message
    }
    steps {
      input
      steps
      secrets
    }
    output {
      input
      steps
      secrets
    }
  }
}`),y=e(`query ContextNames {
  contexts(orderBy: [{field: NAME}], first: 200) {
    nodes {
      id
      databaseId
      name
    }
  }
}`),b=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
  error
  createdAt
  finishedAt
  agent {
    id
    databaseId
    name
  }
}

query Runs($filter: RunFilter, $subtree: Boolean!, $after: String) {
  runs(filter: $filter, subtree: $subtree, first: 100, after: $after) {
    nodes {
      ...runRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),x=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
  error
  createdAt
  finishedAt
  agent {
    id
    databaseId
    name
  }
}

fragment runWhole on Run {
  ...runRow
  input
  output
  revision {
    id
    number
    diagram
  }
  steps {
    position
    stepId
    type
    input
    result
    error
    startedAt
    durationMs
  }
  currentStep {
    position
    input
    startedAt
  }
}

query Run($jobKey: String!) {
  run(jobKey: $jobKey) {
    ...runWhole
  }
}`),S=e(`query EventDeliveries($type: String!, $since: DateTime!, $until: DateTime!) {
  webhookDeliveries(
    subtree: true
    filter: {type: $type, createdSince: $since, createdUntil: $until}
    first: 200
  ) {
    nodes {
      id
      databaseId
      type
      status
      test
      payload
      destination {
        id
        name
        url
      }
    }
  }
}`),C=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
  error
  createdAt
  finishedAt
  agent {
    id
    databaseId
    name
  }
}

fragment runWhole on Run {
  ...runRow
  input
  output
  revision {
    id
    number
    diagram
  }
  steps {
    position
    stepId
    type
    input
    result
    error
    startedAt
    durationMs
  }
  currentStep {
    position
    input
    startedAt
  }
}

subscription RunMoved($jobKey: String!) {
  runUpdated(jobKey: $jobKey) {
    ...runWhole
  }
}`),w=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
  error
  createdAt
  finishedAt
  agent {
    id
    databaseId
    name
  }
}

mutation StartRun($input: StartRunInput!) {
  startRun(input: $input) {
    jobKey
    run {
      ...runRow
    }
  }
}`),T=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
  error
  createdAt
  finishedAt
  agent {
    id
    databaseId
    name
  }
}

fragment runWhole on Run {
  ...runRow
  input
  output
  revision {
    id
    number
    diagram
  }
  steps {
    position
    stepId
    type
    input
    result
    error
    startedAt
    durationMs
  }
  currentStep {
    position
    input
    startedAt
  }
}

mutation CancelRun($input: CancelRunInput!) {
  cancelRun(input: $input) {
    run {
      ...runWhole
    }
  }
}`),E=e(`fragment secretRow on Secret {
  id
  databaseId
  name
  createdAt
  updatedAt
  version
}

query SecretsOfAgent($id: ID!) {
  agent(id: $id) {
    id
    account {
      id
      customer {
        id
        secrets {
          ...secretRow
        }
      }
    }
  }
}`),D=e(`fragment secretRow on Secret {
  id
  databaseId
  name
  createdAt
  updatedAt
  version
}

query Secrets {
  me {
    customer {
      id
      secrets {
        ...secretRow
      }
    }
  }
}`),O=e(`query DeletedAgents {
  me {
    customer {
      id
      deletedAgents {
        id
        name
        deletedAt
        restorableUntil
      }
    }
  }
}`),k=e(`query DeletedAgentsOf($id: ID!) {
  customer(id: $id) {
    id
    deletedAgents {
      id
      name
      deletedAt
      restorableUntil
    }
  }
}`),A=e(`query DeletedSecrets {
  me {
    customer {
      id
      deletedSecrets {
        id
        name
        deletedAt
        restorableUntil
      }
    }
  }
}`),j=e(`fragment secretRow on Secret {
  id
  databaseId
  name
  createdAt
  updatedAt
  version
}

mutation RestoreSecret($input: RestoreSecretInput!) {
  restoreSecret(input: $input) {
    secret {
      ...secretRow
    }
  }
}`),M=e(`fragment secretRow on Secret {
  id
  databaseId
  name
  createdAt
  updatedAt
  version
}

mutation CreateSecret($input: CreateSecretInput!) {
  createSecret(input: $input) {
    secret {
      ...secretRow
    }
  }
}`),N=e(`fragment secretRow on Secret {
  id
  databaseId
  name
  createdAt
  updatedAt
  version
}

mutation UpdateSecret($input: UpdateSecretInput!) {
  updateSecret(input: $input) {
    secret {
      ...secretRow
    }
  }
}`),P=e(`mutation DeleteSecret($input: DeleteSecretInput!) {
  deleteSecret(input: $input) {
    deletedId
  }
}`);export{D as A,j as C,C as D,x as E,w as M,p as N,b as O,N as P,_ as S,c as T,m as _,n as a,a as b,y as c,g as d,P as f,h as g,A as h,t as i,E as j,d as k,u as l,k as m,o as n,T as o,O as p,r,v as s,s as t,M as u,S as v,l as w,f as x,i as y};