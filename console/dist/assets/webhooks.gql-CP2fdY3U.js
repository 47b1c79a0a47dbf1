import{B as e}from"./index-BRDmGs58.js";var t=e(`query Destinations($customerId: ID, $since: DateTime!, $after: String) {
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
}`),r=e(`query DeletedDestinations {
  me {
    customer {
      id
      deletedWebhookDestinations {
        id
        name
        deletedAt
        restorableUntil
      }
    }
  }
}`),i=e(`query DeletedDestinationsOf($id: ID!) {
  customer(id: $id) {
    id
    deletedWebhookDestinations {
      id
      name
      deletedAt
      restorableUntil
    }
  }
}`),a=e(`query FindDestinations($text: String!) {
  search(text: $text, types: [WEBHOOK_DESTINATION], first: 6) {
    ... on WebhookDestination {
      id
      databaseId
      url
      name
    }
  }
}`),o=e(`query FindEvents {
  webhookCatalog(extended: true) {
    version
    events {
      type
      category
    }
  }
}`),s=e(`query FindDeliveries($text: String!) {
  search(text: $text, types: [WEBHOOK_DELIVERY], first: 6) {
    ... on WebhookDelivery {
      id
      databaseId
      eventId
      type
    }
  }
}`),c=e(`fragment destinationWhole on WebhookDestination {
  id
  databaseId
  url
  name
  events
  enabled
  signing
  overlapEndsAt
  autoDisabledAt
  version
}

query Destination($id: ID!) {
  webhookDestination(id: $id) {
    ...destinationWhole
    createdAt
  }
}`),l=e(`query Health($id: ID!, $since: DateTime!) {
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
        attemptLog {
          at
          error
          errorKind
        }
      }
    }
  }
}`),u=e(`query LastDay($id: ID!, $since: DateTime!) {
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
}`),d=e(`query FailingSince($id: ID!, $after: DateTime) {
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
}`),f=e(`query Catalog($extended: Boolean!) {
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
}`),p=e(`query Deliveries($customerId: ID, $filter: WebhookDeliveryFilter, $after: String) {
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
}`),m=e(`fragment deliveryCourse on WebhookDelivery {
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
    errorKind
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
}`),h=e(`fragment deliveryCourse on WebhookDelivery {
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
    errorKind
    response
  }
}

subscription DeliveryMoved($destinationId: ID!) {
  webhookDeliveryUpdated(destinationId: $destinationId) {
    ...deliveryCourse
  }
}`),g=e(`mutation CreateDestination($input: CreateWebhookDestinationInput!) {
  createWebhookDestination(input: $input) {
    destination {
      id
      databaseId
    }
    secret
  }
}`),_=e(`fragment destinationWhole on WebhookDestination {
  id
  databaseId
  url
  name
  events
  enabled
  signing
  overlapEndsAt
  autoDisabledAt
  version
}

mutation UpdateDestination($input: UpdateWebhookDestinationInput!) {
  updateWebhookDestination(input: $input) {
    destination {
      ...destinationWhole
    }
  }
}`),v=e(`mutation DeleteDestination($input: DeleteWebhookDestinationInput!) {
  deleteWebhookDestination(input: $input) {
    deletedId
  }
}`),y=e(`mutation RestoreDestination($input: RestoreWebhookDestinationInput!) {
  restoreWebhookDestination(input: $input) {
    destination {
      id
    }
  }
}`),b=e(`mutation RotateSecret($input: RotateWebhookSecretInput!) {
  rotateWebhookSecret(input: $input) {
    destination {
      id
      overlapEndsAt
      version
    }
    secret
  }
}`),x=e(`mutation SendTest($input: TestWebhookDestinationInput!) {
  testWebhookDestination(input: $input) {
    delivery {
      id
      databaseId
      destination {
        id
      }
    }
  }
}`),S=e(`mutation Resend($input: ResendWebhookDeliveryInput!) {
  resendWebhookDelivery(input: $input) {
    delivery {
      id
      databaseId
      destination {
        id
      }
    }
  }
}`),C=e(`mutation Recover($input: RecoverWebhookDeliveriesInput!) {
  recoverWebhookDeliveries(input: $input) {
    count
  }
}`);export{_ as C,x as S,u as _,i as a,y as b,h as c,t as d,d as f,l as g,o as h,r as i,c as l,a as m,g as n,p as o,s as p,v as r,m as s,f as t,n as u,C as v,b as x,S as y};