package intake_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"canopy/internal/intake"
	"canopy/internal/problem"
)

// taker serves forms of one field and one file: it answers what it read, or why it could not.
func taker(w http.ResponseWriter, r *http.Request) {
	form, err := intake.OpenForm(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	field, err := form.Named("who")
	if err != nil {
		form.Drain()
		refuse(w, err)
		return
	}
	name, _ := io.ReadAll(io.LimitReader(field, 100))
	file, err := form.File("file")
	if err != nil {
		refuse(w, err)
		return
	}
	n, err := io.Copy(io.Discard, file.Content)
	if _, again := file.Content.Read(make([]byte, 1)); err == nil && !errors.Is(again, io.EOF) {
		err = again // some readers look for the end twice
	}
	if err != nil {
		form.Drain()
		refuse(w, err)
		return
	}
	_, _ = fmt.Fprintf(w, "%s %s %d", name, file.Name, n)
}

func refuse(w http.ResponseWriter, err error) {
	p := problem.From(err)
	w.WriteHeader(p.Status())
	_, _ = io.WriteString(w, p.Detail)
}

const boundary = "b0undary"

// raw is a body of parts, each its headers and content, with or without its end.
func raw(end bool, parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--" + boundary + "\r\n" + p + "\r\n")
	}
	if end {
		b.WriteString("--" + boundary + "--\r\n")
	}
	return b.String()
}

func part(name, file, content string) string {
	head := `Content-Disposition: form-data; name="` + name + `"`
	if file != "" {
		head += `; filename="` + file + `"`
	}
	return head + "\r\n\r\n" + content
}

// encoded is a file whose sender says how it was encoded, which RFC 7578 has given up: browsers and SDKs don't.
func encoded(how, content string) string {
	return "Content-Transfer-Encoding: " + how + "\r\n" + part("file", "a.txt", content)
}

func TestForms(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(taker))
	t.Cleanup(s.Close)
	field, file := part("who", "", "Ada"), part("file", "a.txt", "content")
	const form = "multipart/form-data; boundary=" + boundary
	for name, c := range map[string]struct {
		contentType, body string
		status            int
		says              string
	}{
		"a form":                    {form, raw(true, field, file), 200, "Ada a.txt 7"},
		"an empty file":             {form, raw(true, field, part("file", "a.txt", "")), 200, "Ada a.txt 0"},
		"a file that looks like it": {form, raw(true, field, part("file", "a.txt", "--"+boundary+"x\r\n--b")), 200, fmt.Sprintf("Ada a.txt %d", len(boundary)+8)},
		"another field":             {form, raw(true, field, part("other", "a.txt", "x")), 400, `part 2 of the form must be "file", and is "other"`},
		"a field without a name":    {form, raw(true, "\r\nx"), 400, `part 1 of the form must be "who", and is ""`},
		"no name":                   {form, raw(true, field, part("file", "", "x")), 400, `the part "file" of the form has no file name`},
		"another type":              {"application/json", "{}", 400, "the body must be multipart/form-data"},
		"no type":                   {"", "x", 400, "the body must be multipart/form-data"},
		"a broken type":             {"multipart/form-data; boundary", "x", 400, "the body must be multipart/form-data"},
		"no boundary":               {"multipart/form-data", raw(true, field, file), 400, "Content-Type must name the boundary"},
		"another boundary":          {"multipart/form-data; boundary=other", raw(true, field, file), 400, "none begins with the boundary that Content-Type names"},
		"an empty body":             {form, "", 400, `the body is empty: the form must have a part "who"`},
		"an end alone":              {form, raw(true), 400, "the body has no part"},
		"no file":                   {form, raw(true, field), 400, `the form has no part "file"`},
		"no end":                    {form, raw(false, field, file), 400, "the form ends too early"},
		"cut in the file":           {form, raw(true, field, file)[:len(raw(true, field, file))-20], 400, "the form ends too early"},
		"cut in the field":          {form, raw(false, field), 400, "the form ends too early"},
		"cut in headers":            {form, raw(true, field, file)[:len(raw(true, field))], 400, "a part's headers"},
		"something after the file":  {form, raw(true, field, file, part("more", "", "x")), 400, `must end with its only file: the part "more" comes after it`},
		"broken headers":            {form, "--" + boundary + "\r\nno header\r\n\r\nx\r\n--" + boundary + "--\r\n", 400, "not well-formed"},
		"something between parts":   {form, strings.Replace(raw(true, field, file), "Ada\r\n--"+boundary, "Ada\r\n--"+boundary+"--more", 1), 400, "not well-formed"},
		"called quoted-printable":   {form, raw(true, field, encoded("quoted-printable", "=41=\r\n")), 200, "Ada a.txt 6"},
		"called base64":             {form, raw(true, field, encoded("base64", "QQ==")), 200, "Ada a.txt 4"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := http.Post(s.URL, c.contentType, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if got, _ := io.ReadAll(resp.Body); resp.StatusCode != c.status || !strings.Contains(string(got), c.says) {
				t.Errorf("%d %s, want %d %s", resp.StatusCode, got, c.status, c.says)
			}
		})
	}
}

// TestNamesOfFiles: however a client writes a name, it arrives as its sender means it.
func TestNamesOfFiles(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(taker))
	t.Cleanup(s.Close)
	for written, want := range map[string]string{
		`filename="naïve €.txt"`:                                  "naïve €.txt",
		"filename=\"na\xefve \x80.txt\"":                          "naïve €.txt",
		`filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt`:             "naïve €.txt",
		`filename="naive.txt"; filename*=utf-8'fr'na%C3%AFve.txt`: "naïve.txt",
		`filename*=UTF-8''na%C3%AFve.txt; filename="naive.txt"`:   "naïve.txt",
		`filename*=ISO-8859-1''na%EFve.txt`:                       "naïve.txt",
		`filename="na%C3%AFve%20file.txt"`:                        "naïve file.txt",
		`filename="100%25 sure, 50%20.txt"`:                       "100%25 sure, 50%20.txt",
		`filename="100%.txt"`:                                     "100%.txt",
		`filename="%EF.txt"`:                                      "%EF.txt",
		`filename="a \"quoted\" name.txt"`:                        `a "quoted" name.txt`,
		`filename=""`:                                             "",
		`filename*=UTF-7''a.txt`:                                  "",
	} {
		file := `Content-Disposition: form-data; name="file"; ` + written + "\r\n\r\nx"
		resp, err := http.Post(s.URL, "multipart/form-data; boundary="+boundary, strings.NewReader(raw(true, part("who", "", "Ada"), file)))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if want != "" {
			want = "Ada " + want + " 1"
		} else {
			want = `the part "file" of the form has no file name`
		}
		if string(got) != want {
			t.Errorf("%s: %s, want %s", written, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	for contentType, want := range map[string]bool{
		"multipart/form-data; boundary=x": true, "Multipart/Form-Data; boundary=x": true, "multipart/mixed; boundary=x": false, "application/json": false, "": false,
	} {
		if got := intake.IsForm(&http.Request{Header: http.Header{"Content-Type": {contentType}}}); got != want {
			t.Errorf("%q: %v", contentType, got)
		}
	}
}

// TestFilesAreStreamed: a file goes through without being held.
func TestFilesAreStreamed(t *testing.T) {
	const size = 100 << 20
	s := httptest.NewServer(http.HandlerFunc(taker))
	t.Cleanup(s.Close)
	in, out := io.Pipe()
	w := multipart.NewWriter(out)
	go func() {
		_ = w.WriteField("who", "Ada")
		file, err := w.CreateFormFile("file", "large.txt")
		block := bytes.Repeat([]byte("x"), 1<<20)
		for i := 0; i < size && err == nil; i += len(block) {
			_, err = file.Write(block)
		}
		_ = out.CloseWithError(errors.Join(err, w.Close()))
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := http.Post(s.URL, w.FormDataContentType(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, _ := io.ReadAll(resp.Body)
	runtime.ReadMemStats(&after)
	if want := fmt.Sprintf("Ada large.txt %d", size); string(got) != want {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 {
		t.Errorf("%d KiB were allocated for it", taken>>10)
	}
}

// TestRefusedUploadHearsWhy: a client that sends everything before it listens gets the answer all the
// same, and its connection serves the next request.
func TestRefusedUploadHearsWhy(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(taker))
	t.Cleanup(s.Close)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	body := raw(true, part("who", "", "Ada"), part("file", "a.txt", "x"), part("more", "", strings.Repeat("y", 4<<20)))
	if _, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n\r\n%s", boundary, len(body), body); err != nil {
		t.Fatalf("before all was sent: %v", err)
	}
	answer := make([]byte, 4096)
	n, err := conn.Read(answer)
	if err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 400") || !strings.Contains(string(answer[:n]), "must end with its only file") {
		t.Errorf("%v %s", err, answer[:n])
	}
}
