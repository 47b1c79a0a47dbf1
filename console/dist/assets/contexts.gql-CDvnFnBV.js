import{B as e}from"./index-BRDmGs58.js";var t=e(`fragment contextRow on Context {
  id
  databaseId
  name
  caption
  icon
  shareState
  createdAt
}

query Contexts($filter: ContextFilter, $orderBy: [ContextOrder!], $after: String) {
  contexts(filter: $filter, orderBy: $orderBy, first: 100, after: $after) {
    nodes {
      ...contextRow
      documents(first: 1) {
        totalCount
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),n=e(`query FindContexts($text: String!) {
  search(text: $text, types: [CONTEXT], first: 6) {
    ... on Context {
      id
      databaseId
      name
      caption
    }
  }
}`),r=e(`query FindDocuments($text: String!) {
  search(text: $text, types: [DOCUMENT], first: 6) {
    ... on Document {
      id
      databaseId
      displayName
      context {
        id
        databaseId
        name
      }
    }
  }
}`),i=e(`fragment contextRow on Context {
  id
  databaseId
  name
  caption
  icon
  shareState
  createdAt
}

fragment contextSettings on Context {
  ...contextRow
  description
  embeddingModel
  topN
  scoreThreshold
  searchMode
  denseWeight
  logsQueries
  chunkSize
  overlap
  toolsJson
  starterPrompts
  version
}

query Context($id: ID!) {
  context(id: $id) {
    ...contextSettings
    maxSize
    account {
      id
      databaseId
      name
    }
    creator {
      id
      databaseId
      name
    }
  }
}`),a=e(`query Headings($id: ID!) {
  context(id: $id) {
    id
    documents(
      filter: {status: ready}
      orderBy: {field: CREATED_AT, direction: DESC}
      first: 3
    ) {
      nodes {
        id
        chunks(first: 10) {
          nodes {
            id
            heading
          }
        }
      }
    }
  }
}`),o=e(`fragment reprocessingOf on Context {
  id
  reprocessing {
    status
    documents
    done
    progress
    endedAt
  }
}

query Counts($id: ID!) {
  context(id: $id) {
    ...reprocessingOf
    all: documents(first: 1) {
      totalCount
    }
    ready: documents(filter: {status: ready}, first: 1) {
      totalCount
    }
    failed: documents(filter: {status: failed}, first: 1) {
      totalCount
    }
  }
}`),s=e(`fragment documentRow on Document {
  id
  databaseId
  displayName
  originalName
  size
  status
  progress
  error
  createdAt
}

query Documents($filter: DocumentFilter, $orderBy: [DocumentOrder!], $after: String) {
  documents(filter: $filter, orderBy: $orderBy, first: 100, after: $after) {
    nodes {
      ...documentRow
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`),c=e(`fragment documentRow on Document {
  id
  databaseId
  displayName
  originalName
  size
  status
  progress
  error
  createdAt
}

query FailedDocuments($id: ID!) {
  documents(
    filter: {contextId: $id, status: failed}
    orderBy: [{field: CREATED_AT, direction: DESC}]
    first: 3
  ) {
    nodes {
      ...documentRow
    }
    totalCount
  }
}`),l=e(`fragment documentRow on Document {
  id
  databaseId
  displayName
  originalName
  size
  status
  progress
  error
  createdAt
}

query Document($id: ID!, $contextId: ID!) {
  documents(filter: {ids: [$id], contextId: $contextId}, first: 1) {
    nodes {
      ...documentRow
      contentType
      contentHash
      warnings {
        code
        message
        page
      }
      chunkCount
      startedAt
      completedAt
      beginning: chunks(first: 1) {
        nodes {
          id
          page
        }
      }
      creator {
        id
        databaseId
        name
      }
      context {
        id
        databaseId
        name
      }
    }
  }
}`),u=e(`query Original($id: ID!) {
  documents(filter: {ids: [$id]}, first: 1) {
    nodes {
      id
      originalUrl
    }
  }
}`),d=e(`query Chunks($id: ID!, $after: String) {
  documents(filter: {ids: [$id]}, first: 1) {
    nodes {
      id
      chunks(first: 100, after: $after) {
        nodes {
          id
          position
          content
          overlapBytes
          page
          heading
          row
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
}`),f=e(`query SearchContext($id: ID!, $prompt: String!, $topN: Int, $scoreThreshold: Float, $mode: SearchMode) {
  searchContext(
    contextId: $id
    prompt: $prompt
    topN: $topN
    scoreThreshold: $scoreThreshold
    mode: $mode
  ) {
    relevance
    content
    passage {
      page
      heading
      row
      start
      end
    }
    highlights {
      start
      end
    }
    document {
      id
      databaseId
      displayName
    }
    chunk {
      id
      position
    }
  }
}`),p=e(`query Questions($id: ID!, $most: Float!) {
  context(id: $id) {
    id
    all: queries(first: 1) {
      totalCount
    }
    missed: queries(filter: {maxRelevance: $most}, first: 200) {
      nodes {
        id
        text
        relevance
        createdAt
      }
      totalCount
    }
  }
}`),m=e(`query Kept($id: ID!) {
  context(id: $id) {
    id
    all: queries(first: 1) {
      totalCount
    }
  }
}`),h=e(`subscription AskContext($id: ID!, $prompt: String!) {
  askContext(contextId: $id, prompt: $prompt) {
    text
    done
    nothingFound
    extractive
    citations {
      quote
      start
      end
      hit {
        content
        passage {
          page
          heading
          row
        }
        document {
          id
          databaseId
          displayName
        }
        chunk {
          id
          position
        }
      }
    }
    warnings {
      code
      message
      start
      end
    }
  }
}`),g=e(`fragment documentRow on Document {
  id
  databaseId
  displayName
  originalName
  size
  status
  progress
  error
  createdAt
}

subscription DocumentChanges($id: ID!) {
  documentUpdated(contextId: $id) {
    ...documentRow
    chunkCount
    startedAt
    completedAt
  }
}`),_=e(`fragment contextRow on Context {
  id
  databaseId
  name
  caption
  icon
  shareState
  createdAt
}

mutation CreateContext($input: CreateContextInput!) {
  createContext(input: $input) {
    context {
      ...contextRow
    }
  }
}`),v=e(`fragment contextRow on Context {
  id
  databaseId
  name
  caption
  icon
  shareState
  createdAt
}

fragment contextSettings on Context {
  ...contextRow
  description
  embeddingModel
  topN
  scoreThreshold
  searchMode
  denseWeight
  logsQueries
  chunkSize
  overlap
  toolsJson
  starterPrompts
  version
}

mutation UpdateContext($input: UpdateContextInput!) {
  updateContext(input: $input) {
    context {
      ...contextSettings
    }
  }
}`),y=e(`mutation ShareContext($input: ShareContextInput!) {
  shareContext(input: $input) {
    context {
      id
      shareState
      icon
      version
    }
  }
}`),b=e(`query DeletedContexts {
  deletedContexts {
    id
    name
    deletedAt
    restorableUntil
  }
}`),x=e(`query DeletedDocuments($id: ID!) {
  context(id: $id) {
    id
    deletedDocuments {
      id
      name
      deletedAt
      restorableUntil
    }
  }
}`),S=e(`fragment documentRow on Document {
  id
  databaseId
  displayName
  originalName
  size
  status
  progress
  error
  createdAt
}

mutation RestoreDocument($input: RestoreDocumentInput!) {
  restoreDocument(input: $input) {
    document {
      ...documentRow
    }
  }
}`),C=e(`mutation RestoreContext($input: RestoreContextInput!) {
  restoreContext(input: $input) {
    context {
      id
    }
  }
}`),w=e(`mutation DeleteContext($input: DeleteContextInput!) {
  deleteContext(input: $input) {
    deletedId
  }
}`),T=e(`fragment reprocessingOf on Context {
  id
  reprocessing {
    status
    documents
    done
    progress
    endedAt
  }
}

mutation ReprocessContext($input: ReprocessContextInput!) {
  reprocessContext(input: $input) {
    context {
      ...reprocessingOf
    }
  }
}`),E=e(`fragment reprocessingOf on Context {
  id
  reprocessing {
    status
    documents
    done
    progress
    endedAt
  }
}

mutation CancelReprocessing($input: CancelReprocessingInput!) {
  cancelReprocessing(input: $input) {
    context {
      ...reprocessingOf
    }
  }
}`),D=e(`mutation UploadDocument($input: UploadDocumentInput!) {
  uploadDocument(input: $input) {
    document {
      id
      databaseId
      displayName
    }
  }
}`),O=e(`mutation DeleteDocument($input: DeleteDocumentInput!) {
  deleteDocument(input: $input) {
    deletedId
  }
}`),k=e(`fragment documentRow on Document {
  id
  databaseId
  displayName
  originalName
  size
  status
  progress
  error
  createdAt
}

mutation ReprocessDocument($input: ReprocessDocumentInput!) {
  reprocessDocument(input: $input) {
    document {
      ...documentRow
    }
  }
}`);export{k as C,y as D,f as E,v as O,T as S,S as T,r as _,t as a,u as b,w as c,x as d,l as f,n as g,c as h,i,D as k,O as l,s as m,E as n,o,g as p,d as r,_ as s,h as t,b as u,a as v,C as w,p as x,m as y};