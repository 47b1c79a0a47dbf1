import{P as e}from"./index-C36K_8vY.js";var t=e(`query Destinations($customerId: ID, $since: DateTime!, $after: String) {
  webhookDestinations(customerId: $customerId, first: 50, after: $after) {
    nodes {
      id
      databaseId
      url
      name
      enabled
      autoDisabledAt
      lost: deliveries(
        filter: {createdSince: $since, or: [{status: failed}, {status: blocked}]}
        first: 1
      ) {
        totalCount
        totalCountCapped
      }
      latest: deliveries(first: 1) {
        nodes {
          id
          status
          createdAt
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),n=e(`query DestinationNames($customerId: ID, $after: String) {
  webhookDestinations(customerId: $customerId, first: 200, after: $after) {
    nodes {
      id
      databaseId
      url
      name
      enabled
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),r=e(`query FindDestinations($text: String!) {
  search(text: $text, types: [WEBHOOK_DESTINATION], first: 6) {
    ... on WebhookDestination {
      id
      databaseId
      url
      name
    }
  }
}`),i=e(`query FindEvents {
  webhookCatalog(extended: true) {
    version
    events {
      type
      category
    }
  }
}`),a=e(`query FindDeliveries($text: String!) {
  search(text: $text, types: [WEBHOOK_DELIVERY], first: 6) {
    ... on WebhookDelivery {
      id
      databaseId
      eventId
      type
    }
  }
}`),o=e(`fragment destinationWhole on WebhookDestination {
  id
  databaseId
  url
  name
  events
  enabled
  signing
  autoDisabledAt
  version
}

query Destination($id: ID!) {
  webhookDestination(id: $id) {
    ...destinationWhole
    createdAt
  }
}`),s=e(`query Health($id: ID!, $since: DateTime!) {
  webhookDestination(id: $id) {
    id
    delivered: deliveries(
      filter: {createdSince: $since, status: delivered}
      first: 50
    ) {
      totalCount
      totalCountCapped
      nodes {
        id
        attemptLog {
          durationMs
        }
      }
    }
    lost: deliveries(
      filter: {createdSince: $since, or: [{status: failed}, {status: blocked}]}
      first: 1
    ) {
      totalCount
      totalCountCapped
    }
    waiting: deliveries(filter: {status: pending}, first: 1) {
      totalCount
      totalCountCapped
    }
    lastDelivered: deliveries(filter: {status: delivered}, first: 1) {
      nodes {
        id
        createdAt
        completedAt
      }
    }
    lastLost: deliveries(
      filter: {or: [{status: failed}, {status: blocked}]}
      first: 1
    ) {
      nodes {
        id
        databaseId
        createdAt
        error
      }
    }
  }
}`),c=e(`query LastDay($id: ID!, $since: DateTime!) {
  webhookDestination(id: $id) {
    id
    deliveries(filter: {createdSince: $since}, first: 200) {
      nodes {
        id
        databaseId
        type
        status
        createdAt
        attemptLog {
          durationMs
        }
      }
    }
  }
}`),l=e(`query FailingSince($id: ID!, $after: DateTime) {
  webhookDestination(id: $id) {
    id
    firstLost: deliveries(
      filter: {createdSince: $after, or: [{status: failed}, {status: blocked}]}
      orderBy: [{field: ID, direction: ASC}]
      first: 1
    ) {
      nodes {
        id
        createdAt
      }
    }
  }
}`),u=e(`query Catalog($extended: Boolean!) {
  webhookCatalog(extended: $extended) {
    version
    events {
      type
      category
      description
      example
      schema
    }
  }
}`),d=e(`query Deliveries($customerId: ID, $filter: WebhookDeliveryFilter, $after: String) {
  webhookDeliveries(
    customerId: $customerId
    filter: $filter
    first: 50
    after: $after
  ) {
    nodes {
      id
      databaseId
      type
      status
      httpStatus
      error
      test
      attempts
      createdAt
      destination {
        id
        databaseId
        name
        url
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),f=e(`fragment deliveryCourse on WebhookDelivery {
  id
  databaseId
  type
  status
  attempts
  httpStatus
  error
  test
  createdAt
  completedAt
  attemptLog {
    at
    durationMs
    httpStatus
    error
    response
  }
}

query Delivery($id: ID!) {
  webhookDelivery(id: $id) {
    ...deliveryCourse
    eventId
    destinationId
    payload
    destination {
      id
      databaseId
      name
      url
      signing
      enabled
    }
  }
}`),p=e(`fragment deliveryCourse on WebhookDelivery {
  id
  databaseId
  type
  status
  attempts
  httpStatus
  error
  test
  createdAt
  completedAt
  attemptLog {
    at
    durationMs
    httpStatus
    error
    response
  }
}

subscription DeliveryMoved($destinationId: ID!) {
  webhookDeliveryUpdated(destinationId: $destinationId) {
    ...deliveryCourse
  }
}`),m=e(`mutation CreateDestination($input: CreateWebhookDestinationInput!) {
  createWebhookDestination(input: $input) {
    destination {
      id
      databaseId
    }
    secret
  }
}`),h=e(`fragment destinationWhole on WebhookDestination {
  id
  databaseId
  url
  name
  events
  enabled
  signing
  autoDisabledAt
  version
}

mutation UpdateDestination($input: UpdateWebhookDestinationInput!) {
  updateWebhookDestination(input: $input) {
    destination {
      ...destinationWhole
    }
  }
}`),g=e(`mutation DeleteDestination($input: DeleteWebhookDestinationInput!) {
  deleteWebhookDestination(input: $input) {
    deletedId
  }
}`),_=e(`mutation RestoreDestination($input: RestoreWebhookDestinationInput!) {
  restoreWebhookDestination(input: $input) {
    destination {
      id
    }
  }
}`),v=e(`mutation RotateSecret($input: RotateWebhookSecretInput!) {
  rotateWebhookSecret(input: $input) {
    destination {
      id
      version
    }
    secret
  }
}`),y=e(`mutation SendTest($input: TestWebhookDestinationInput!) {
  testWebhookDestination(input: $input) {
    delivery {
      id
      databaseId
      destination {
        id
      }
    }
  }
}`),b=e(`mutation Resend($input: ResendWebhookDeliveryInput!) {
  resendWebhookDelivery(input: $input) {
    delivery {
      id
      databaseId
      destination {
        id
      }
    }
  }
}`),x=e(`mutation Recover($input: RecoverWebhookDeliveriesInput!) {
  recoverWebhookDeliveries(input: $input) {
    count
  }
}`);export{b as _,f as a,y as b,n as c,a as d,r as f,x as g,c as h,d as i,t as l,s as m,m as n,p as o,i as p,g as r,o as s,u as t,l as u,_ as v,h as x,v as y};