package client

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/npmtest"
)

// waysPage is the sign-in page of docs/frontend.md, the second one that it shows.
var waysPage = regexp.MustCompile("(?s)## Ways in.*?```html\n(.*?)```")

// with has the page find the client without any tool, and a test what it asks the browser for.
const with = `<link rel="icon" href="data:,">
<script type="importmap">{"imports": {"canopy-client": "/page/dist/index.js", "graphql-ws/client": "/page/node_modules/graphql-ws/dist/client.js"}}</script>
<script type="module">
window.client = await import("canopy-client");
</script>
<script type="module">`

// TestWaysInClients uses the sign-in page of docs/frontend.md, at the platform's own origin, with oidc-provider and a device that keeps passkeys.
func TestWaysInClients(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/frontend.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := waysPage.FindSubmatch(text)
	if shown == nil {
		t.Fatal("docs/frontend.md shows no sign-in page")
	}
	client := npmtest.Client(t, "../..").Folder("clients/typescript")
	client.Write("index.html", strings.Replace(string(shown[1]), `<script type="module">`, with, 1))

	front := http.NewServeMux()
	server := httptest.NewServer(front)
	t.Cleanup(server.Close)
	public := platform.Localhost(server.URL)
	at, err := url.Parse(public)
	if err != nil {
		t.Fatal(err)
	}
	s := platform.Start(t, platform.DeliverLocally(t), func(c *config.Config) { c.PublicURL = at })
	own, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	front.Handle("/page/", http.StripPrefix("/page", http.FileServerFS(client.Files())))
	front.Handle("/", httputil.NewSingleHostReverseProxy(own))
	provider := s.RealProvider(npmtest.New(t, os.DirFS("../identity/testdata/provider")), public)
	id := s.Must(http.StatusCreated, "POST", "/v1/identity-providers", s.Root(), map[string]any{
		"customerId": s.Customer("Alpine Energy"), "name": "Corp login", "issuer": provider.URL, "clientId": "canopy", "clientSecret": "a secret of the registration",
		"domains": []string{"corp.example"}, "defaultRoleId": s.RoleID(0, "tenant", "Viewer"),
	}).ID(t, "id")
	s.Browse("clients/ways.test.js", "CANOPY_URL="+public, "CANOPY_PAGE="+public+"/page/", "CANOPY_ISSUER="+provider.URL, "CANOPY_PROVIDER="+platform.Decimal(id))
}
