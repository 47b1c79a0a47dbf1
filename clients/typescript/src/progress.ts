/** How far an upload is, in bytes. */
export interface Progress {
  sent: number;
  total: number;
}

/** A `fetch` of forms that tells how much was sent: by XMLHttpRequest on pages, where nothing else can, and by a stream elsewhere. */
export function withProgress(usual: typeof fetch, tell: (progress: Progress) => void): typeof fetch {
  return typeof XMLHttpRequest === "undefined" ? byStream(usual, tell) : byXHR(tell);
}

function byXHR(tell: (progress: Progress) => void): typeof fetch {
  return (url, init) =>
    new Promise((done, failed) => {
      const xhr = new XMLHttpRequest();
      const stop = () => xhr.abort();
      const { signal } = init ?? {};
      signal?.addEventListener("abort", stop, { once: true });
      xhr.open(init?.method ?? "GET", String(url));
      new Headers(init?.headers).forEach((value, name) => xhr.setRequestHeader(name, value));
      xhr.upload.onprogress = ({ loaded, total }) => tell({ sent: loaded, total });
      xhr.onabort = xhr.onerror = () => failed(new TypeError("the request was not answered"));
      xhr.onload = () => done(new Response(xhr.status === 204 ? null : xhr.responseText, { status: xhr.status, headers: headersOf(xhr) }));
      xhr.onloadend = () => signal?.removeEventListener("abort", stop);
      if (signal?.aborted) failed(signal.reason);
      else xhr.send(init?.body as XMLHttpRequestBodyInit);
    });
}

function headersOf(xhr: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of xhr.getAllResponseHeaders().trim().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

function byStream(usual: typeof fetch, tell: (progress: Progress) => void): typeof fetch {
  return (url, init) => {
    const form = init?.body as FormData;
    let total = 0;
    for (const [, part] of form) total += typeof part === "string" ? 0 : part.size;
    let sent = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        tell({ sent: Math.min(sent, total), total });
        controller.enqueue(chunk);
      },
    });
    const encoded = new Response(form);
    const headers = new Headers(init?.headers);
    headers.set("Content-Type", encoded.headers.get("Content-Type")!);
    const request: RequestInit & { duplex: "half" } = { ...init, headers, body: encoded.body!.pipeThrough(counted), duplex: "half" };
    return usual(url, request);
  };
}
