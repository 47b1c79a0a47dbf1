package contexts

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/globalid"
)

// asked asks for a path with headers.
func asked(s *platform.Platform, method, path, token string, headers ...string) platform.Answer {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return s.Send(req)
}

// linkTo is the link to a document's original.
func linkTo(s *platform.Platform, token string, document int64) string {
	s.T.Helper()
	id := globalid.ID{Type: "Document", Int: document}.Global()
	link := platform.Member(s.T, s.MustGQL(token, `query($id: ID!) { node(id: $id) { ... on Document { originalUrl } } }`, object{"id": id}), "node.originalUrl")
	return strings.TrimPrefix(link.(string), s.App.Resolver.PublicURL.String())
}

// TestOriginals: a file comes back as it was uploaded, whole and in parts, to be kept and never shown.
func TestOriginals(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	content := []byte(strings.Repeat("0123456789", 20_000))
	s.Upload(token, id, `übersicht "neu".txt`, content)
	document := int64(s.Documents(token, id)[0]["id"].(float64))
	for name, at := range map[string][2]string{
		"by its path": {fmt.Sprintf("/context/document/%d/original", document), token}, "by a link": {linkTo(s, token, document), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path, token := at[0], at[1]
			whole := asked(s, "GET", path, token)
			if whole.Status != 200 || !bytes.Equal(whole.Body, content) {
				t.Fatalf("%d, %d bytes", whole.Status, len(whole.Body))
			}
			etag := whole.Header.Get("ETag")
			for header, want := range map[string]string{
				"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", "Accept-Ranges": "bytes", "Cache-Control": "private, no-cache", "Content-Length": "200000",
				"Content-Disposition": `attachment; filename="_bersicht _neu_.txt"; filename*=UTF-8''%C3%BCbersicht%20%22neu%22.txt`,
			} {
				if got := whole.Header.Get(header); got != want && (header != "Content-Type" || !strings.HasPrefix(got, "text/plain")) {
					t.Errorf("%s: %s", header, got)
				}
			}
			for _, c := range []struct {
				header, value string
				status        int
				body          []byte
			}{
				{"Range", "bytes=5-14", 206, content[5:15]},
				{"Range", "bytes=-3", 206, content[len(content)-3:]},
				{"Range", "bytes=-1" + strings.Repeat(",-1", 16), 200, content},
				{"Range", "lines=1-2", 200, content},
				{"Range", "BYTES=5-14", 206, content[5:15]},
				{"Range", "bytes=199990-99999999999999999999", 206, content[199990:]},
				{"Range", "bytes=-99999999999999999999", 206, content},
				{"Range", "bytes=0-1,-0", 206, content[:2]},
				{"If-None-Match", etag, 304, nil},
				{"If-None-Match", `"another"`, 200, content},
			} {
				if a := asked(s, "GET", path, token, c.header, c.value); a.Status != c.status || !bytes.Equal(a.Body, c.body) {
					t.Errorf("%s: %s: %d, %d bytes", c.header, c.value, a.Status, len(a.Body))
				}
			}
			if a := asked(s, "GET", path, token, "Range", "bytes=-1"+strings.Repeat(",-1", 15)); a.Status != 206 || !strings.HasPrefix(a.Header.Get("Content-Type"), "multipart/byteranges") {
				t.Errorf("16 parts: %d, %v", a.Status, a.Header)
			}
			if a := asked(s, "GET", path, token, "Range", "bytes=0-1", "If-Range", `"another"`); a.Status != 200 {
				t.Errorf("a part of another file: %d", a.Status)
			}
			platform.Scenario{Status: 412}.Judge(t, asked(s, "GET", path, token, "If-Match", `"another"`))
			for _, part := range []string{"900000-", "-0", "-00", "99999999999999999999-", "5-4", "5", "x-", "-"} {
				beyond := asked(s, "GET", path, token, "Range", "bytes="+part)
				platform.Scenario{Status: 416}.Judge(t, beyond)
				if beyond.Header.Get("Content-Disposition") != "" || strings.HasSuffix(part, "0-") && beyond.Header.Get("Content-Range") != "bytes */200000" {
					t.Errorf("%s: %v", part, beyond.Header)
				}
			}
			if a := asked(s, "HEAD", path, token); a.Status != 200 || len(a.Body) != 0 || a.Header.Get("Content-Length") != "200000" {
				t.Errorf("HEAD: %d, %v", a.Status, a.Header)
			}
		})
	}
	s.Must(404, "GET", "/context/document/999/original", token, nil)
	s.Must(401, "GET", fmt.Sprintf("/context/document/%d/original", document), "", nil)
}

// TestLinksToOriginals: a link leads to one document, for 5 minutes, and no longer than that is there and its company at work.
func TestLinksToOriginals(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	hydro := s.Customer("Alpine Hydro")
	desk := s.TokenOf(hydro, "lukas@alpine-hydro.example", "assistant")
	id := s.NewContext(desk, "Manuals")
	for _, name := range []string{"valve.txt", "pump.txt"} {
		s.Upload(desk, id, name, []byte("The "+name+" is red."))
	}
	documents := s.Documents(desk, id)
	first, second := int64(documents[0]["id"].(float64)), int64(documents[1]["id"].(float64))
	link := linkTo(s, desk, first)
	s.Must(200, "GET", link, "", nil)
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	until := func(kind db.SealedLink, moment time.Time) string {
		sealed := kind.Seal(s.App.Resolver.Box, fmt.Appendf(nil, "%d %d", first, moment.Unix()))
		return u.Path + "?token=" + base64.RawURLEncoding.EncodeToString(sealed)
	}
	for name, bad := range map[string]string{
		"another document": strings.Replace(link, fmt.Sprintf("/%d/", first), fmt.Sprintf("/%d/", second), 1), "no token": u.Path, "a made up one": u.Path + "?token=AAAA",
		"an old one": until(db.SealedOriginalLinks, time.Now().Add(-time.Second)), "one for exports": until(db.SealedExportLinks, time.Now().Add(time.Minute)),
	} {
		if a := s.Do("GET", bad, "", nil); a.Status != 404 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	s.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/suspend", s.Customer("Alpine Energy")), s.Root(), nil)
	s.Must(404, "GET", link, "", nil)
	s.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/resume", s.Customer("Alpine Energy")), s.Root(), nil)
	s.Must(200, "GET", link, "", nil)
	s.Must(200, "DELETE", fmt.Sprintf("/context/documents/%d/%d", id, first), desk, nil)
	s.Must(404, "GET", link, "", nil)
}

// TestSlowReadersHoldTheirFileAlone: however many have begun to read an original and don't go on, everybody else is served.
func TestSlowReadersHoldTheirFileAlone(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.DBMaxConns = 4 })
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.Upload(token, id, "large.txt", bytes.Repeat([]byte("0123456789abcde\n"), 1<<20))
	document := int64(s.Documents(token, id)[0]["id"].(float64))
	for range 20 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+fmt.Sprintf("/context/document/%d/original", document), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		if resp.StatusCode != 200 {
			t.Fatal(resp.Status)
		}
	}
	s.Must(200, "GET", "/context", token, nil)
	if a := asked(s, "GET", fmt.Sprintf("/context/document/%d/original", document), token, "Range", "bytes=0-3"); string(a.Body) != "0123" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestOriginalsOfABucket come from the platform, and by a link from where they are kept.
func TestOriginalsOfABucket(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("originals"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	s := platform.Start(t, func(c *config.Config) {
		c.BlobURL = "s3://originals?region=eu-central-1&use_path_style=true&endpoint=" + server.URL
	})
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.Upload(token, id, "valve.txt", []byte("The valve is red."))
	document := int64(s.Documents(token, id)[0]["id"].(float64))
	if a := asked(s, "GET", fmt.Sprintf("/context/document/%d/original", document), token, "Range", "bytes=4-8"); a.Status != 206 || string(a.Body) != "valve" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	link := linkTo(s, token, document)
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(link, server.URL) || u.Query().Get("X-Amz-Expires") != "300" ||
		u.Query().Get("response-content-disposition") != `attachment; filename="valve.txt"` {
		t.Fatalf("%v %s", err, link)
	}
	resp, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
}
