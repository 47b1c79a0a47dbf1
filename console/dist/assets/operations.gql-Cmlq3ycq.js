import{B as e}from"./index-BRDmGs58.js";var t=e(`query Operations {
  operations {
    version
    queues {
      name
      waiting
      waitingSince
    }
    workers {
      host
      pid
      version
      queues
      startedAt
    }
    lateMails {
      kind
      reason
      attempts
      createdAt
      nextAttemptAt
      givenUpAt
      user {
        id
        databaseId
        email
      }
      branch {
        id
        databaseId
        name
      }
    }
    nearLimits {
      name
      reached
      used
      limit
      day
      customer {
        id
        databaseId
        name
      }
    }
    defaultLimits {
      name
      limit
    }
  }
}`),n=e(`query Failing {
  operations {
    failingDestinations {
      id
      databaseId
      url
      name
      enabled
      failingSince
      customer {
        id
        databaseId
        name
      }
    }
  }
}`),r=e(`query Busiest($by: LimitName!) {
  operations {
    busiest(by: $by, first: 20) {
      id
      databaseId
      name
      usage {
        name
        used
        limit
      }
    }
  }
}`),i=e(`query AuditEvents($filter: AuditEventFilter, $after: String) {
  auditEvents(filter: $filter, first: 100, after: $after) {
    nodes {
      id
      databaseId
      action
      objectType
      objectId
      createdAt
      actorKind
      actor {
        id
        email
      }
      customer {
        id
        databaseId
        name
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),a=e(`query AuditEvent($ids: [ID!]!) {
  auditEvents(filter: {ids: $ids}, first: 1) {
    nodes {
      id
      databaseId
      action
      objectType
      objectId
      createdAt
      clientId
      details
      actorKind
      actor {
        id
        databaseId
        email
      }
      customer {
        id
        databaseId
        name
      }
    }
  }
}`),o=e(`query AuditActions {
  auditActions {
    action
    description
  }
}`),s=e(`query Actor($id: ID!) {
  user(id: $id) {
    id
    databaseId
    name
    email
  }
}`),c=e(`subscription AuditEventTold {
  auditEvent {
    id
  }
}`);export{i as a,t as c,c as i,o as n,r as o,a as r,n as s,s as t};