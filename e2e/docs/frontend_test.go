package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"canopy/e2e/platform"
	"canopy/internal/devstack/browsertest"
	"canopy/internal/devstack/npmtest"
)

var shownBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

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
	if len(shown["sh"]) != 4 || len(shown["html"]) != 1 || len(shown["ts"]) != 4 || len(shown["graphql"]) != 4 {
		t.Fatalf("the page shows %d, %d, %d, %d blocks", len(shown["sh"]), len(shown["html"]), len(shown["ts"]), len(shown["graphql"]))
	}
	project.Run("sh", "-euc", shown["sh"][0])
	page := project.Folder("page")
	for name, blocks := range map[string][]string{"index.html": shown["html"], "main.ts": shown["ts"], "operations.graphql": shown["graphql"]} {
		page.Write(name, strings.Join(blocks, "\n"))
	}
	page.Run("sh", "-euc", shown["sh"][2])

	b := browsertest.Open(t)
	s := platform.Start(t)
	s.NoDemoMails()
	s.Work(nil)
	at := browsertest.Serve(t, page.Folder("dist").Files(), "http://localhost:8080", browsertest.Localhost(s.URL))
	b.Run(t, chromedp.Navigate(at), chromedp.WaitVisible("#sign-in"),
		chromedp.SendKeys("[name=email]", platform.DemoAdmin), chromedp.SendKeys("[name=password]", "not the password"), chromedp.Click("#sign-in button"))
	b.WaitFor(t, `document.getElementById("problem").textContent.includes("password is wrong")`)
	b.Run(t, chromedp.SetValue("[name=password]", s.Demo.AdminPassword), chromedp.Click("#sign-in button"), chromedp.WaitVisible("#inside"))
	b.Run(t, chromedp.Reload(), chromedp.WaitVisible("#inside"))
	if got := b.Text(t, "#who"); got != platform.DemoAdmin {
		t.Errorf("%q is signed in", got)
	}
	open := func(customer string) chromedp.Action[chromedp.Void] {
		return chromedp.Click(`//summary[text()="` + customer + `"]`)
	}
	b.Run(t, open("Northwind Group"), open("Alpine Energy"), chromedp.WaitVisible(`//summary[text()="Alpine Hydro"]`))
	sample, err := filepath.Abs("../../docs/samples/shift-rules.docx")
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, chromedp.SetUploadFiles("#file", []string{sample}), chromedp.WaitVisible(`//li[text()="shift-rules.docx: ready"]`))
	b.WaitFor(t, `document.getElementById("sent").value === 1`)
	b.Run(t, chromedp.Click("#run"), chromedp.WaitVisible(`//output[contains(text(), "finished (greeting)") and contains(text(), "Hello Ada")]`))
	b.Run(t, chromedp.Click("#sign-out"), chromedp.WaitVisible("#sign-in"))
}
