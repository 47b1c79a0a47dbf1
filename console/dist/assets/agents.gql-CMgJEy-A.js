import{t as e}from"./documents-fkYuufs6.js";var t=e(`fragment agentRow on Agent {
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
}`),n=e(`query AgentNames {
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
}`),r=e(`query FindAgents($text: String!) {
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
    }
  }
}`),i=e(`query FindRuns($text: String!) {
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
}`),a=e(`fragment agentRow on Agent {
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
}`),o=e(`fragment agentRow on Agent {
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

mutation SaveAgent($input: UpdateAgentInput!) {
  updateAgent(input: $input) {
    agent {
      ...agentRow
      draft
    }
  }
}`),c=e(`fragment agentRow on Agent {
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
}`),l=e(`fragment agentRow on Agent {
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

mutation EnableAgent($input: EnableAgentInput!) {
  enableAgent(input: $input) {
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

mutation DisableAgent($input: DisableAgentInput!) {
  disableAgent(input: $input) {
    agent {
      ...agentRow
    }
  }
}`),f=e(`mutation DeleteAgent($input: DeleteAgentInput!) {
  deleteAgent(input: $input) {
    deletedId
  }
}`),p=e(`query CheckDiagram($diagram: JSON!) {
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
}`),m=e(`query ContextNames {
  contexts(orderBy: [{field: NAME}], first: 200) {
    nodes {
      id
      databaseId
      name
    }
  }
}`),h=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
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
}`),g=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
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
  error
  revision {
    id
    number
    diagram
  }
  steps {
    position
    stepId
    type
    result
    error
    startedAt
    durationMs
  }
}

query Run($jobKey: String!) {
  run(jobKey: $jobKey) {
    ...runWhole
  }
}`),_=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
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
  error
  revision {
    id
    number
    diagram
  }
  steps {
    position
    stepId
    type
    result
    error
    startedAt
    durationMs
  }
}

subscription RunMoved($jobKey: String!) {
  runUpdated(jobKey: $jobKey) {
    ...runWhole
  }
}`),v=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
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
}`),y=e(`fragment runRow on Run {
  id
  databaseId
  jobKey
  status
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
  error
  revision {
    id
    number
    diagram
  }
  steps {
    position
    stepId
    type
    result
    error
    startedAt
    durationMs
  }
}

mutation CancelRun($input: CancelRunInput!) {
  cancelRun(input: $input) {
    run {
      ...runWhole
    }
  }
}`),b=e(`fragment secretRow on Secret {
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
}`),x=e(`fragment secretRow on Secret {
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
}`),S=e(`fragment secretRow on Secret {
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
}`),C=e(`fragment secretRow on Secret {
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
}`),w=e(`mutation DeleteSecret($input: DeleteSecretInput!) {
  deleteSecret(input: $input) {
    deletedId
  }
}`);export{l as C,v as S,_,p as a,x as b,S as c,d,u as f,g,c as h,y as i,f as l,i as m,n,m as o,r as p,t as r,o as s,a as t,w as u,h as v,C as w,b as x,s as y};