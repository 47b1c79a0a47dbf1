"""A webhook receiver: it verifies the signature over the raw body before it reads the body, drops
duplicates, and answers at once. It needs Python 3.9 or later and no packages.

    WEBHOOK_SECRET=whsec_… PORT=8443 TLS_CERT=cert.pem TLS_KEY=key.pem python3 examples/receiver/verify.py

WEBHOOK_SECRET may hold two secrets, separated by a comma, while a rotation is under way. Without
TLS_CERT it serves plain HTTP, for use behind a proxy that terminates TLS.
"""

import hashlib
import hmac
import json
import os
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = os.environ.get("WEBHOOK_SECRET", "").split(",")
MAX_BODY = 1 << 20

seen = set()  # in production: a unique index of your database, so that it outlives restarts


def verify(headers, body):
    """Tells whether one of the headers holds the signature of body by one of the secrets."""
    for name in ("x-service-signature", "x-service-signature-next"):
        given = headers.get(name, "").encode()
        for secret in SECRETS:
            digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            if hmac.compare_digest(given, b"sha256=" + digest.encode()):  # constant time
                return True
    return False


def parse(body):
    try:
        event = json.loads(body)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("id"), str) else None


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= MAX_BODY:
            return self.answer(413)
        body = self.rfile.read(length)  # the exact bytes: never parse and serialise again
        if not verify(self.headers, body):
            return self.answer(401)
        event = parse(body)
        if event is None:
            return self.answer(400)
        self.answer(204)
        if event["id"] in seen:
            return print("duplicate", event["id"], flush=True)
        seen.add(event["id"])
        # in production: put it on a queue
        print("event", event["type"], event["id"], json.dumps(event["data"]), flush=True)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    if not SECRETS[0]:
        sys.exit("WEBHOOK_SECRET is not set")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 0))), Receiver)
    scheme = "http"
    if os.environ.get("TLS_CERT"):
        scheme = "https"
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
        # The handshake belongs to the request's thread: a silent client must not hold up the rest.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(f"listening on {scheme}://127.0.0.1:{server.server_address[1]}/", flush=True)
    server.serve_forever()
