import{t as e}from"./documents-Jzj449OR.js";var t=e(`query Destinations($customerId: ID, $since: DateTime!, $after: String) {
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
}`),i=e(`query FindDeliveries($text: String!) {
  search(text: $text, types: [WEBHOOK_DELIVERY], first: 6) {
    ... on WebhookDelivery {
      id
      databaseId
      eventId
      type
    }
  }
}`),a=e(`fragment destinationWhole on WebhookDestination {
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
}`),o=e(`query Health($id: ID!, $since: DateTime!) {
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
}`),s=e(`query FailingSince($id: ID!, $after: DateTime) {
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
}`),c=e(`query Catalog($extended: Boolean!) {
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
}`),l=e(`query Deliveries($customerId: ID, $filter: WebhookDeliveryFilter, $after: String) {
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
}`),u=e(`fragment deliveryCourse on WebhookDelivery {
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
}`),d=e(`fragment deliveryCourse on WebhookDelivery {
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
}`),f=e(`mutation CreateDestination($input: CreateWebhookDestinationInput!) {
  createWebhookDestination(input: $input) {
    destination {
      id
      databaseId
    }
    secret
  }
}`),p=e(`fragment destinationWhole on WebhookDestination {
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
}`),m=e(`mutation DeleteDestination($input: DeleteWebhookDestinationInput!) {
  deleteWebhookDestination(input: $input) {
    deletedId
  }
}`),h=e(`mutation RestoreDestination($input: RestoreWebhookDestinationInput!) {
  restoreWebhookDestination(input: $input) {
    destination {
      id
    }
  }
}`),g=e(`mutation RotateSecret($input: RotateWebhookSecretInput!) {
  rotateWebhookSecret(input: $input) {
    destination {
      id
      version
    }
    secret
  }
}`),_=e(`mutation SendTest($input: TestWebhookDestinationInput!) {
  testWebhookDestination(input: $input) {
    delivery {
      id
      databaseId
      destination {
        id
      }
    }
  }
}`),v=e(`mutation Resend($input: ResendWebhookDeliveryInput!) {
  resendWebhookDelivery(input: $input) {
    delivery {
      id
      databaseId
      destination {
        id
      }
    }
  }
}`),y=e(`mutation Recover($input: RecoverWebhookDeliveriesInput!) {
  recoverWebhookDeliveries(input: $input) {
    count
  }
}`);export{g as _,u as a,n as c,i as d,r as f,h as g,v as h,l as i,t as l,y as m,f as n,d as o,o as p,m as r,a as s,c as t,s as u,_ as v,p as y};