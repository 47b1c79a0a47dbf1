export const languages = ["Go", "TypeScript", "Python"] as const;
export type Language = (typeof languages)[number];

interface Signed {
  name: string;
  signing: "SPEC" | "STANDARD";
}

/** What a receiver may call the secret of a destination among its settings. */
export function secretName({ name }: { name: string }): string {
  const word = name.toUpperCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "").replace(/[^A-Z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  return /^[A-Z]/.test(word) ? `${word}_WEBHOOK_SECRET` : "WEBHOOK_SECRET";
}

/** A function that verifies deliveries to a destination, with what it needs. It holds before, during and after a rotation. */
export function codeOf(language: Language, destination: Signed): string {
  return snippets[language][destination.signing](secretName(destination));
}

const snippets: Record<Language, Record<Signed["signing"], (secret: string) => string>> = {
  Go: {
    SPEC: (secret) => `import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"
)

// verified tells whether a delivery is signed. body is what was read of r.Body.
func verified(r *http.Request, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(os.Getenv("${secret}")))
	mac.Write(body)
	for _, name := range []string{"x-service-signature", "x-service-signature-next"} {
		given, err := hex.DecodeString(strings.TrimPrefix(r.Header.Get(name), "sha256="))
		if err == nil && hmac.Equal(given, mac.Sum(nil)) {
			return true
		}
	}
	return false
}`,
    STANDARD: (secret) => `import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// verified tells whether a delivery is signed, and fresh. body is what was read of r.Body.
func verified(r *http.Request, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("${secret}"), "whsec_"))
	id, at := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	seconds, notANumber := strconv.ParseInt(at, 10, 64)
	if err != nil || notANumber != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Fields(r.Header.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}`,
  },
  TypeScript: {
    SPEC: (secret) => `import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Tells whether a delivery is signed. The body is the bytes that came. */
export function verified(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const expected = Buffer.from("sha256=" + createHmac("sha256", process.env["${secret}"]!).update(body).digest("hex"));
  return ["x-service-signature", "x-service-signature-next"].some((name) => {
    const given = Buffer.from(String(headers[name] ?? ""));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`,
    STANDARD: (secret) => `import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Tells whether a delivery is signed, and fresh. The body is the bytes that came. */
export function verified(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const key = Buffer.from(process.env["${secret}"]!.slice("whsec_".length), "base64");
  const [id, at, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => String(headers[name] ?? ""));
  const expected = Buffer.from("v1," + createHmac("sha256", key).update(\`\${id}.\${at}.\`).update(body).digest("base64"));
  const signed = signatures!.split(" ").map((given) => Buffer.from(given))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  return signed && Math.abs(Date.now() / 1000 - Number(at)) < 300;
}`,
  },
  Python: {
    SPEC: (secret) => `import hashlib
import hmac
import os


def verified(headers, body: bytes) -> bool:
    """Tells whether a delivery is signed. The body is the bytes that came."""
    expected = "sha256=" + hmac.new(os.environ["${secret}"].encode(), body, hashlib.sha256).hexdigest()
    names = ("x-service-signature", "x-service-signature-next")
    return any(hmac.compare_digest(headers.get(name, "").encode(), expected.encode()) for name in names)`,
    STANDARD: (secret) => `import base64
import hashlib
import hmac
import os
import time


def verified(headers, body: bytes) -> bool:
    """Tells whether a delivery is signed, and fresh. The body is the bytes that came."""
    key = base64.b64decode(os.environ["${secret}"].removeprefix("whsec_"))
    at = headers.get("webhook-timestamp", "")
    content = b".".join([headers.get("webhook-id", "").encode(), at.encode(), body])
    expected = b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode().split()
    signed = any(hmac.compare_digest(given, expected) for given in signatures)
    return signed and abs(time.time() - int(at)) < 300`,
  },
};
