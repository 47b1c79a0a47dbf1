// What the search peers have in common: the chunks of PEER_CHUNKS, one JSON object a line, are indexed, and then
// prompts are answered as {"prompt": "…"} is posted to any path.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';

export async function serve(add, find) {
  await add(readFileSync(process.env.PEER_CHUNKS, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line)));
  const [host, port] = process.env.PEER_LISTEN.split(':');
  createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', async () => {
      const found = body ? await find(JSON.parse(body).prompt) : [];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(found));
    });
  }).listen(Number(port), host);
}
