'use strict';

const { GraphiQL, createElement, createRoot, getOperationAST, parse, useState } = window.GraphiQLBundle;

const welcome = `# Sign in (top right), then run this query: Ctrl-Enter.
# Ctrl-Space completes names; the book on the left documents the whole schema.
query WhoAmI {
  me {
    email
    customer {
      databaseId
      name
    }
  }
}
`;

// The editor's headers with the Authorization of the session put in, or taken out without one.
function withAuthorization(text, authorization) {
  let headers;
  try {
    headers = text.trim() ? JSON.parse(text) : {};
  } catch {
    return text; // half-written by hand: not ours to replace
  }
  for (const name of Object.keys(headers)) {
    if (name.toLowerCase() === 'authorization') {
      delete headers[name];
    }
  }
  if (authorization) {
    headers.Authorization = authorization;
  }
  return Object.keys(headers).length ? JSON.stringify(headers, null, 2) : '';
}

// What GraphiQL remembers between visits, but for headers: its history would keep the tokens too.
const storage = {
  get length() {
    return localStorage.length;
  },
  getItem: (key) => localStorage.getItem(key),
  removeItem: (key) => localStorage.removeItem(key),
  clear: () => localStorage.clear(),
  setItem(key, value) {
    if (!key.endsWith(':headers')) {
      localStorage.setItem(key, withoutHeaders(value));
    }
  },
};

function withoutHeaders(text) {
  try {
    return JSON.stringify(JSON.parse(text, (key, value) => (key === 'headers' ? '' : value)));
  } catch {
    return text; // not JSON: a query, a theme, a width
  }
}

// Sends one operation: a subscription as an event stream, everything else as plain JSON.
function fetcher(params, options = {}) {
  const send = kindOf(params) === 'subscription' ? subscribe : request;
  return send(params, options.headers || {});
}

function kindOf({ query, operationName }) {
  try {
    return getOperationAST(parse(query), operationName || undefined)?.operation;
  } catch {
    return ''; // not GraphQL: the server says where the fault is
  }
}

function post(params, headers, accept, signal) {
  return fetch('graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers, Accept: accept },
    body: JSON.stringify(params),
    signal,
  });
}

async function request(params, headers) {
  return answer(await post(params, headers, 'application/graphql-response+json, application/json;q=0.9'));
}

async function answer(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`The server answered ${response.status} ${response.statusText}: ${text.slice(0, 200)}`);
  }
}

// The results of a subscription over server-sent events, in the distinct connections mode of
// https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md. Stopping it cuts the request.
function subscribe(params, headers) {
  const abort = new AbortController();
  const results = stream(params, headers, abort.signal);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next(),
    return() {
      abort.abort();
      return Promise.resolve({ done: true, value: undefined });
    },
    throw(error) {
      abort.abort();
      return Promise.reject(error);
    },
  };
}

async function* stream(params, headers, signal) {
  try {
    const response = await post(params, headers, 'text/event-stream', signal);
    if (!(response.headers.get('Content-Type') || '').startsWith('text/event-stream')) {
      yield await answer(response);
      return;
    }
    for await (const { event, data } of events(response.body.pipeThrough(new TextDecoderStream()).getReader())) {
      if (event === 'complete') {
        return;
      }
      if (event === 'next') {
        yield JSON.parse(data);
      }
    }
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  }
}

// The events of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html).
async function* events(reader) {
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      yield parseEvent(block);
    }
  }
}

function parseEvent(block) {
  const data = [];
  let event = 'message';
  for (const line of block.split('\n')) {
    const [, name, value] = /^([^:]*)(?:: ?(.*))?$/.exec(line);
    if (name === 'event') {
      event = value;
    } else if (name === 'data') {
      data.push(value);
    }
  }
  return { event, data: data.join('\n') };
}

function App() {
  const [headers, setHeaders] = useState(withAuthorization('', CanopySession.authorization()));
  App.update = (authorization) => setHeaders((now) => withAuthorization(now, authorization));
  return createElement(GraphiQL, {
    fetcher,
    headers,
    storage,
    onEditHeaders: setHeaders,
    defaultQuery: welcome,
    defaultEditorToolsVisibility: 'headers',
    shouldPersistHeaders: false,
    showPersistHeadersSettings: false,
    inputValueDeprecation: true,
  });
}

CanopySession.onChange((authorization) => App.update(authorization));
createRoot(document.getElementById('app')).render(createElement(App));
