// A webhook receiver: it verifies the signature over the raw body before it reads the body, drops
// duplicates, and answers at once. It needs Node.js 18 or later and no packages.
//
//   WEBHOOK_SECRET=whsec_… PORT=8443 TLS_CERT=cert.pem TLS_KEY=key.pem node examples/receiver/verify.mjs
//
// WEBHOOK_SECRET may hold two secrets, separated by a comma, while a rotation is under way. Without
// TLS_CERT it serves plain HTTP, for use behind a proxy that terminates TLS.

import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer as createPlain } from "node:http";
import { createServer as createTLS } from "node:https";

const secrets = (process.env.WEBHOOK_SECRET ?? "").split(",");
if (!secrets[0]) {
  console.error("WEBHOOK_SECRET is not set");
  process.exit(1);
}

// Tells whether one of the headers holds the signature of body (a Buffer) by one of the secrets.
function verify(headers, body) {
  for (const name of ["x-service-signature", "x-service-signature-next"]) {
    const given = Buffer.from(headers[name] ?? "");
    for (const secret of secrets) {
      const expected = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
      // timingSafeEqual throws on different lengths; the length is no secret.
      if (given.length === expected.length && timingSafeEqual(given, expected)) return true;
    }
  }
  return false;
}

function parse(body) {
  try {
    const event = JSON.parse(body);
    return typeof event?.id === "string" ? event : null;
  } catch {
    return null;
  }
}

const seen = new Set(); // in production: a unique index of your database, so that it outlives restarts

function handle(req, res) {
  const parts = [];
  let size = 0;
  req.on("data", (part) => {
    size += part.length;
    if (size > 1 << 20) req.destroy();
    parts.push(part);
  });
  req.on("end", () => {
    const body = Buffer.concat(parts); // the exact bytes: never parse and serialise again
    if (!verify(req.headers, body)) return res.writeHead(401).end();
    const event = parse(body);
    if (!event) return res.writeHead(400).end();
    res.writeHead(204).end();
    if (seen.has(event.id)) return console.log("duplicate", event.id);
    seen.add(event.id);
    console.log("event", event.type, event.id, JSON.stringify(event.data)); // in production: queue it
  });
}

const { TLS_CERT, TLS_KEY, PORT } = process.env;
const server = TLS_CERT
  ? createTLS({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, handle)
  : createPlain(handle);
server.listen(Number(PORT ?? 0), "127.0.0.1", () => {
  console.log(`listening on ${TLS_CERT ? "https" : "http"}://127.0.0.1:${server.address().port}/`);
});
