package client

import (
	"fmt"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
)

// page has the client as a browser loads it, without any tool.
const page = `<!doctype html>
<title>The client</title>
<link rel="icon" href="data:,">
<script type="importmap">{"imports": {"canopy-client": "/dist/index.js", "graphql-ws/client": "/node_modules/graphql-ws/dist/client.js"}}</script>
<script type="module">
import { Canopy, knowsPasskeys, makePasskey, Session } from "canopy-client";
window.passkeys = { knowsPasskeys, makePasskey };
window.ended = [];
window.session = new Session({ url: %q, onEnd: (why) => ended.push(why.reason) });
window.canopy = new Canopy(session);
</script>`

// TestPageClients uses the client as pages of another port do: signed in by the cookie, in two tabs.
func TestPageClients(t *testing.T) {
	t.Parallel()
	client := npmtest.Client(t, "../..").Folder("clients/typescript")
	s := platform.Start(t)
	s.NoDemoMails()
	at := serve(t, s)
	client.Write("index.html", fmt.Sprintf(page, at))
	s.Browse("clients/client.test.js", "CANOPY_URL="+at, "CANOPY_PAGE="+platform.Serve(t, client.Files()))
}
