import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{t}from"./Code-fxiUhr7k.js";import{Q as n,W as r,rt as i}from"./index-BRDmGs58.js";import{t as a}from"./List-BaF4CVfF.js";import{t as o}from"./SegmentedControl-xGdlkW_8.js";import{t as s}from"./Skeleton-PBKB2MIO.js";import{i as c,o as l}from"./text-CCoWELrg.js";import{i as u,t as d}from"./react-BNCMh3YF.js";import{n as f}from"./hooks-BjxI6Knb.js";import{t as p}from"./CopyText-GYAom9GN.js";import{t as m}from"./Problem-DZuxb32M.js";import{t as h}from"./SidePanel-Bmdj2SeZ.js";import{t as g}from"./useDestination-JBeS8J8j.js";import{l as _}from"./webhooks.gql-CP2fdY3U.js";var v=e(u(),1),y=[`Go`,`TypeScript`,`Python`];function b({name:e}){let t=e.toUpperCase().normalize(`NFKD`).replace(/[\u0300-\u036f]/g,``).replace(/[^A-Z0-9]+/g,`_`).replace(/^_+|_+$/g,``);return/^[A-Z]/.test(t)?`${t}_WEBHOOK_SECRET`:`WEBHOOK_SECRET`}function x(e,t){return S[e][t.signing](b(t))}var S={Go:{SPEC:e=>`import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"
)

// verified tells whether a delivery is signed. body is what was read of r.Body.
func verified(r *http.Request, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(os.Getenv("${e}")))
	mac.Write(body)
	for _, name := range []string{"x-service-signature", "x-service-signature-next"} {
		given, err := hex.DecodeString(strings.TrimPrefix(r.Header.Get(name), "sha256="))
		if err == nil && hmac.Equal(given, mac.Sum(nil)) {
			return true
		}
	}
	return false
}`,STANDARD:e=>`import (
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
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("${e}"), "whsec_"))
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
}`},TypeScript:{SPEC:e=>`import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Tells whether a delivery is signed. The body is the bytes that came. */
export function verified(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const expected = Buffer.from("sha256=" + createHmac("sha256", process.env["${e}"]!).update(body).digest("hex"));
  return ["x-service-signature", "x-service-signature-next"].some((name) => {
    const given = Buffer.from(String(headers[name] ?? ""));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`,STANDARD:e=>`import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Tells whether a delivery is signed, and fresh. The body is the bytes that came. */
export function verified(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const key = Buffer.from(process.env["${e}"]!.slice("whsec_".length), "base64");
  const [id, at, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => String(headers[name] ?? ""));
  const expected = Buffer.from("v1," + createHmac("sha256", key).update(\`\${id}.\${at}.\`).update(body).digest("base64"));
  const signed = signatures!.split(" ").map((given) => Buffer.from(given))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  return signed && Math.abs(Date.now() / 1000 - Number(at)) < 300;
}`},Python:{SPEC:e=>`import hashlib
import hmac
import os


def verified(headers, body: bytes) -> bool:
    """Tells whether a delivery is signed. The body is the bytes that came."""
    expected = "sha256=" + hmac.new(os.environ["${e}"].encode(), body, hashlib.sha256).hexdigest()
    names = ("x-service-signature", "x-service-signature-next")
    return any(hmac.compare_digest(headers.get(name, "").encode(), expected.encode()) for name in names)`,STANDARD:e=>`import base64
import hashlib
import hmac
import os
import time


def verified(headers, body: bytes) -> bool:
    """Tells whether a delivery is signed, and fresh. The body is the bytes that came."""
    key = base64.b64decode(os.environ["${e}"].removeprefix("whsec_"))
    at = headers.get("webhook-timestamp", "")
    content = b".".join([headers.get("webhook-id", "").encode(), at.encode(), body])
    expected = b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode().split()
    signed = any(hmac.compare_digest(given, expected) for given in signatures)
    return signed and abs(time.time() - int(at)) < 300`}},C=d();function w(){let{text:e}=c(),{id:u,to:d}=g(),S=r(),{data:w,error:T,again:E}=f(_,{id:u}),[D,O]=(0,v.useState)(`Go`),k=w?.webhookDestination,A=k&&x(D,k);return(0,C.jsx)(h,{title:e.webhooks.verify,close:()=>S(d),children:(0,C.jsxs)(n,{children:[(0,C.jsx)(m,{error:T,again:E}),!k&&!T&&(0,C.jsx)(s,{height:300}),k&&A&&(0,C.jsxs)(C.Fragment,{children:[(0,C.jsx)(l,{size:`sm`,children:e.webhooks.verifyHint[k.signing]}),(0,C.jsx)(a,{size:`sm`,spacing:4,children:e.webhooks.verifyRules.map(e=>(0,C.jsx)(a.Item,{children:e},e))}),(0,C.jsxs)(i,{justify:`space-between`,children:[(0,C.jsx)(o,{transitionDuration:0,"aria-label":e.webhooks.language,value:D,data:[...y],onChange:e=>O(e)}),(0,C.jsx)(p,{value:A})]}),(0,C.jsx)(`pre`,{className:`wire`,tabIndex:0,"aria-label":e.webhooks.verifyCode(D),children:A}),(0,C.jsxs)(l,{size:`sm`,c:`dimmed`,children:[e.webhooks.verifySecret,` `,(0,C.jsx)(t,{children:b(k)})]})]})]})})}export{w as Verify};