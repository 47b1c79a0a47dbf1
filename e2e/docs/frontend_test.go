package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
)

var shownBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// TestFrontendPageHasOneAddress: whose platform has another port changes one line of the page, which says where the address comes from.
func TestFrontendPageHasOneAddress(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/frontend.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := ""
	for _, m := range shownBlock.FindAllStringSubmatch(string(text), -1) {
		blocks += m[2]
	}
	if n := strings.Count(blocks, pageURL); n != 1 || strings.Count(blocks, "8080") != n {
		t.Errorf("%s stands in %d lines, and its port in %d", pageURL, n, strings.Count(blocks, "8080"))
	}
	before, _, _ := strings.Cut(string(text), pageURL)
	if !strings.Contains(before[strings.LastIndex(before, "\n## "):], ".data/dev.json") {
		t.Error("it is not said where the address comes from")
	}
}

// pageURL is the address that the page has, in whose place the tests have that of a platform on another port.
const pageURL = "http://localhost:8080"

// TestFrontendPageClients makes the page of docs/frontend.md, with the commands and the files that it shows, and uses it as a
// person would.
func TestFrontendPageClients(t *testing.T) {
	t.Parallel()
	project := npmtest.Checkout(t, "../..", "clients/typescript", "schema.graphql", "Makefile")
	text, err := os.ReadFile("../../docs/frontend.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string][]string{}
	for _, m := range shownBlock.FindAllStringSubmatch(string(text), -1) {
		shown[m[1]] = append(shown[m[1]], m[2])
	}
	if len(shown["sh"]) != 4 || len(shown["html"]) != 2 || len(shown["ts"]) != 4 || len(shown["graphql"]) != 4 {
		t.Fatalf("the page shows %d, %d, %d, %d blocks", len(shown["sh"]), len(shown["html"]), len(shown["ts"]), len(shown["graphql"]))
	}
	project.Run("sh", "-euc", shown["sh"][0])
	page := project.Folder("page")
	for name, blocks := range map[string][]string{"index.html": shown["html"][:1], "main.ts": shown["ts"], "operations.graphql": shown["graphql"]} {
		page.Write(name, strings.Join(blocks, "\n"))
	}
	page.Run("sh", "-euc", shown["sh"][2])

	s := platform.Start(t)
	s.NoDemoMails()
	s.Work(nil)
	at := platform.Localhost(s.URL)
	s.Browse("clients/frontend.test.js", "CANOPY_URL="+at, "CANOPY_PAGE="+platform.Serve(t, page.Folder("dist").Files(), pageURL, at),
		"CANOPY_DOCUMENT=../../docs/samples/shift-rules.docx")
}
