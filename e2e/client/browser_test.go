package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"canopy/e2e/platform"
	"canopy/internal/devstack/browsertest"
	"canopy/internal/devstack/npmtest"
)

// page has the client as a browser loads it, without any tool.
const page = `<!doctype html>
<title>The client</title>
<link rel="icon" href="data:,">
<script type="importmap">{"imports": {"canopy-client": "/dist/index.js", "graphql-ws/client": "/node_modules/graphql-ws/dist/client.js"}}</script>
<script type="module">
import { Canopy, Session } from "canopy-client";
window.ended = [];
window.session = new Session({ url: %q, onEnd: (why) => ended.push(why.reason) });
window.canopy = new Canopy(session);
window.email = async () => (await canopy.request("{ me { email } }")).me.email;
window.sleep = (ms) => new Promise((done) => setTimeout(done, ms));
window.weather = (query) => fetch(%[1]q + "/weather/set?" + query, { method: "POST" });
window.asked = async (path) => Number(await (await fetch(%[1]q + "/weather/asked?path=" + path)).text());
</script>`

// does runs statements in a page, and gives what they return.
func does(t *testing.T, b *browsertest.Browser, statements string) string {
	t.Helper()
	return browsertest.Get(t, b, chromedp.Evaluate[string](`(async () => { `+statements+` })().then(String, (error) => "failed: " + [error.name, error.code, error.reason, error.message])`, chromedp.EvalAwaitPromise))
}

// TestPageClients uses the client as pages of another port do: signed in by the cookie, in two tabs.
func TestPageClients(t *testing.T) {
	t.Parallel()
	client := npmtest.Client(t, "../..").Folder("clients/typescript")
	s := platform.Start(t)
	s.NoDemoMails()
	at := serve(t, s)
	client.Write("index.html", fmt.Sprintf(page, at))
	origin := browsertest.Serve(t, client.Files())
	first := browsertest.Open(t)
	open := func(b *browsertest.Browser) {
		t.Helper()
		b.Run(t, chromedp.Navigate(origin))
		b.WaitFor(t, "window.canopy !== undefined")
	}
	expect := func(b *browsertest.Browser, want, statements string) {
		t.Helper()
		if got := does(t, b, statements); got != want {
			t.Errorf("%s\ngives %s, want %s", statements, got, want)
		}
	}
	open(first)
	signIn := fmt.Sprintf(`await session.signIn({ email: %q, password: %q });`, platform.DemoAdmin, s.Demo.AdminPassword)

	// Before and after signing in; no script can read what renews the session.
	expect(first, "false", `return session.resume()`)
	expect(first, "failed: CanopyError,UNAUTHENTICATED,,the e-mail address or the password is wrong", strings.Replace(signIn, s.Demo.AdminPassword, "not the password", 1))
	expect(first, platform.DemoAdmin+"||0", signIn+`return [await email(), document.cookie, localStorage.length].join("|")`)

	// A second tab is signed in without the password; when the tokens of both run out, both get one, and the session goes on.
	second := first.Tab(t)
	open(second)
	expect(second, "true", `await weather("life=1s"); return session.resume()`)
	expect(first, "true", `await session.switchTo(session.customerId); await weather(""); return session.resume()`)
	renewInBoth := func() {
		t.Helper()
		both := make(chan string, 2)
		for _, tab := range []*browsertest.Browser{first, second} {
			go func() {
				both <- does(t, tab, `await sleep(1200); return (await Promise.all([email(), email(), email()])).join()`)
			}()
		}
		for range 2 {
			if got := <-both; got != strings.Join([]string{platform.DemoAdmin, platform.DemoAdmin, platform.DemoAdmin}, ",") {
				t.Errorf("a tab asks for %s", got)
			}
		}
		expect(first, "2", `return asked("/auth/session/refresh")`)
	}
	renewInBoth()
	// So they do where the browser has no locks, and both renew with the same cookie.
	const noLocks = `Object.defineProperty(navigator, "locks", { value: undefined }); `
	expect(second, "true", noLocks+`await weather("life=1s"); await session.switchTo(session.customerId); return navigator.locks === undefined`)
	expect(first, "true", noLocks+`await session.switchTo(session.customerId); await weather(""); return session.resume()`)
	renewInBoth()
	expect(first, "true", `await sleep(500); await session.switchTo(session.customerId); return session.resume()`)
	expect(first, "0", `return ended.length`)

	// A subscription goes on while tokens run out.
	expect(second, "customer.updated,true", `
		await weather("life=2s");
		await session.switchTo(session.customerId);
		let connections = 0;
		const stop = new AbortController();
		const events = canopy.subscribe("subscription { auditEvent { action } }", {}, { signal: stop.signal, onConnected: () => connections++ });
		let heard = [];
		const listening = (async () => { for await (const { auditEvent } of events) heard.push(auditEvent.action) })().catch(() => {});
		const rename = () => canopy.request('mutation { updateCustomer(input: { customerId: 1, name: "Northwind ' + Math.random() + '" }) { customer { name } } }');
		while (heard.length === 0) { await rename(); await sleep(100); }
		while (connections < 3) await sleep(100);
		heard = [];
		while (heard.length === 0) { await rename(); await sleep(100); }
		stop.abort();
		await listening;
		await weather("");
		return [heard[0], (await asked("/auth/session/refresh")) === 0];`)

	// A change whose answer was lost is done once.
	expect(first, "Once,1", `
		await weather("lost=/graphql");
		const made = await canopy.request('mutation { createAgent(input: { name: "Once" }) { agent { name } } }');
		return [made.createAgent.agent.name, (await canopy.request("{ agents { totalCount } }")).agents.totalCount]`)

	// An upload tells how far it is, and can be given up.
	expect(first, "rules.txt,true,true,AbortError", `
		const made = await canopy.request('mutation { createContext(input: { name: "C", description: "d", caption: "c", starterPrompts: [] }) { context { databaseId } } }');
		const contextId = made.createContext.context.databaseId, told = [];
		const upload = "mutation($input: UploadDocumentInput!) { uploadDocument(input: $input) { document { displayName } } }";
		const file = new File(["Holidays are thirty days a year. ".repeat(300000)], "rules.txt");
		const done = await canopy.upload(upload, { input: { contextId, file } }, { onProgress: ({ sent, total }) => told.push(sent / total) });
		const stop = new AbortController();
		const given = await canopy.upload(upload, { input: { contextId, file } }, { signal: stop.signal, onProgress: () => stop.abort() }).catch((error) => error.name);
		return [done.uploadDocument.document.displayName, told.length > 0 && told.at(-1) === 1, told.every((part, i) => i === 0 || part >= told[i - 1]), given]`)

	// Who signs out in one tab is signed out in the other.
	expect(first, "false", `await session.signOut(); return session.resume()`)
	expect(second, "failed: CanopyError,UNAUTHENTICATED,session_ended,the session has ended, or there is none: sign in", `return email()`)
	expect(second, "session_ended", `return ended`)
}
