package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

const someUUID = "00000000-0000-4000-8000-000000000001"

// member is a member of an archive that is made by hand.
type member struct {
	name, content string
	kind          byte
}

// packed makes an archive of members.
func packed(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Typeflag: max(m.kind, tar.TypeReg), Size: int64(len(m.content)), Mode: 0o600}
		if h.Typeflag != tar.TypeReg {
			h.Size, h.Linkname = 0, "/etc/passwd"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, m.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// visited are the rows and originals of an archive, in its order.
func visited(ctx context.Context, from io.Reader) (list []string, m *Manifest, err error) {
	m, err = Read(ctx, from, Visitor{
		Kinds: map[string]bool{"customers": true, "users": true, "runs": false},
		Row: func(at Place, kind string, line []byte) error {
			list = append(list, fmt.Sprintf("%s: %s %s", at, kind, line))
			return nil
		},
		Original: func(at Place, name string, size int64, r io.Reader) error {
			content, err := io.ReadAll(r)
			list = append(list, fmt.Sprintf("%s: %d %s", at, size, content))
			return err
		},
	})
	return list, m, err
}

// TestRead reads what Writer has written.
func TestRead(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, 7, time.Unix(1e9, 0).UTC())
	long := `{"name":"` + strings.Repeat("x", partBytes) + `"}`
	for _, row := range []string{`{"name": "\ud83e\udea8 \\u0000"}`, long, `{"name":"z"}`} {
		if err := w.Row("customers", json.RawMessage(row)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Row("runs", json.RawMessage(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := w.Original(someUUID, 5, strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	list, m, err := visited(t.Context(), &b)
	if err != nil || m.CustomerID != 7 || m.Rows["customers"] != 3 || m.Rows["runs"] != 1 || m.Originals != 1 {
		t.Fatalf("%v %v", m, err)
	}
	slices.Sort(list)
	want := []string{
		`customers/000001.jsonl, line 1: customers {"name":"\ud83e\udea8 \\u0000"}`, `customers/000001.jsonl, line 2: customers ` + long,
		`customers/000002.jsonl, line 1: customers {"name":"z"}`, `originals/` + someUUID + `: 5 hello`,
	}
	if !slices.Equal(list, want) {
		t.Errorf("%.200s", list)
	}
}

// TestReadCutOff: what is left of a line where an archive is cut off is no row.
func TestReadCutOff(t *testing.T) {
	var long strings.Builder
	for range 1000 {
		long.WriteString(rand.Text())
	}
	whole := packed(t, member{name: "customers/000001.jsonl", content: `{"name":"` + long.String() + `"}`})
	list, _, err := visited(t.Context(), bytes.NewReader(whole[:len(whole)/2]))
	if f, ok := errors.AsType[*Fault](err); len(list) > 0 || !ok || !strings.Contains(f.Error(), "the archive is cut off here") {
		t.Errorf("%.200q, %v", list, err)
	}
}

// TestReadHostile: whatever is wrong with an archive is told with its place.
func TestReadHostile(t *testing.T) {
	manifest := func(text string) member { return member{name: "manifest.json", content: text} }
	none := manifest(`{"format":1,"customerId":1,"createdAt":"2026-01-01T00:00:00Z","rows":{},"originals":0,"leftOut":[]}`)
	one := manifest(strings.Replace(none.content, `{}`, `{"customers":1}`, 1))
	row := member{name: "customers/000001.jsonl", content: "{}\n"}
	whole := packed(t, row, member{name: "originals/" + someUUID, content: strings.Repeat("content ", 10_000)}, manifest(strings.Replace(one.content, `"originals":0`, `"originals":1`, 1)))
	if _, _, err := visited(t.Context(), bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(whole)
	damaged[len(damaged)-8]++ // of the checksum
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"nothing":           {nil, "the archive: the archive is cut off here"},
		"no gzip":           {[]byte(strings.Repeat("hello ", 100)), "the archive: is not compressed by gzip"},
		"no tar":            {zipped(t, strings.Repeat("hello ", 1000)), "the archive: no tar file goes on here"},
		"cut off":           {whole[:len(whole)/2], "the archive is cut off here: it is not whole"},
		"cut off at an end": {packed(t, row), "customers/000001.jsonl: the archive ends without a manifest"},
		"a wrong checksum":  {damaged, "manifest.json: the archive is damaged: its checksum is another"},
		"more behind its end": {
			append(slices.Clone(whole), zipped(t, strings.Repeat("x", maxPadding+1))...), "manifest.json: the archive goes on behind its end",
		},
		"a way out":         {packed(t, member{name: "../../etc/passwd"}, none), "../../etc/passwd: no archive of an export has a member of this name"},
		"a way from root":   {packed(t, member{name: "/originals/" + someUUID}, none), "no archive of an export has a member of this name"},
		"a way back":        {packed(t, member{name: "originals/../x"}, none), "originals/../x: no archive of an export has a member of this name"},
		"a strange name":    {packed(t, member{name: "a\nb\x1b[2J"}, none), `"a\nb\x1b[2J": no archive`},
		"a link":            {packed(t, member{name: "originals/" + someUUID, kind: tar.TypeSymlink}, none), "is not a plain file"},
		"a device":          {packed(t, member{name: "originals/" + someUUID, kind: tar.TypeChar}, none), "is not a plain file"},
		"an unknown kind":   {packed(t, member{name: "zombies/000001.jsonl", content: "{}\n"}, none), "there is no kind of rows with the name zombies"},
		"a part is missing": {packed(t, member{name: "customers/000002.jsonl", content: "{}\n"}, one), "customers/000002.jsonl: is not the next part of its kind, which is 000001"},
		"a part twice":      {packed(t, row, row, one), "customers/000001.jsonl: is not the next part of its kind, which is 000002"},
		"a row too many":    {packed(t, member{name: row.name, content: "{}\n{}\n"}, one), "manifest.json: there should be 1 rows of customers, and there are 2"},
		"a row is missing":  {packed(t, one), "manifest.json: there should be 1 rows of customers, and there are 0"},
		"originals missing": {packed(t, manifest(strings.Replace(none.content, `"originals":0`, `"originals":3`, 1))), "manifest.json: there should be 3 originals, and there are 0"},
		"unknown rows":      {packed(t, manifest(strings.Replace(none.content, `{}`, `{"zombies":0}`, 1))), "manifest.json: there is no kind of rows with the name zombies"},
		"another format":    {packed(t, manifest(`{"format":2,"news":true}`)), "manifest.json: the archive has the format 2, and this program reads the format 1"},
		"no format":         {packed(t, manifest(`{}`)), "manifest.json: the archive has the format 0"},
		"unknown members":   {packed(t, manifest(`{"format":1,"news":true}`)), `manifest.json: unknown field "news"`},
		"a list":            {packed(t, manifest(`[]`)), "manifest.json: is not valid"},
		"behind the end":    {packed(t, none, row), "customers/000001.jsonl: stands behind the manifest"},
		"a long manifest":   {packed(t, manifest(strings.Repeat(" ", maxManifest)+none.content)), "manifest.json: is longer than 1048576 bytes"},
		"no UTF-8":          {packed(t, member{name: row.name, content: "{}\n\"\xff\"\n"}, one), "customers/000001.jsonl, line 2: is not valid UTF-8"},
		"NUL":               {packed(t, member{name: row.name, content: `"\\\u0000"` + "\n"}, one), "customers/000001.jsonl, line 1: must not contain NUL bytes"},
		"half a character":  {packed(t, member{name: row.name, content: `"\ud83e\ud83e"` + "\n"}, one), `line 1: has half a character: \ud83e`},
		"the other half":    {packed(t, member{name: row.name, content: `"\udea8"` + "\n"}, one), `line 1: has half a character: \udea8`},
		"a long line":       {packed(t, member{name: row.name, content: "{}\n" + strings.Repeat("x", MaxLine+1)}, one), "customers/000001.jsonl, line 2: is longer than 8388608 bytes"},
		"a bomb":            {packed(t, member{name: row.name, content: strings.Repeat(strings.Repeat(" ", 1<<20)+"\n", 96)}, one), "the rows are more than 200 times what they are compressed to"},
	} {
		_, _, err := visited(t.Context(), bytes.NewReader(c.archive))
		var f *Fault
		if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// zipped is a text compressed by gzip.
func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReadEnds: reading ends with the context.
func TestReadEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := visited(ctx, bytes.NewReader(packed(t, member{name: "customers/000001.jsonl", content: "{}\n"}))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzRead: no archive brings the reader down.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	w := NewWriter(&b, 7, time.Unix(1e9, 0).UTC())
	_ = w.Row("customers", json.RawMessage(`{"a":"\u0041"}`))
	_ = w.Original(someUUID, 5, strings.NewReader("hello"))
	_ = w.Close()
	z, _ := gzip.NewReader(&b)
	plain, _ := io.ReadAll(z)
	f.Add(plain)
	f.Fuzz(func(t *testing.T, plain []byte) {
		_, m, err := visited(t.Context(), bytes.NewReader(zipped(t, string(plain))))
		var fault *Fault
		if (m == nil) != errors.As(err, &fault) {
			t.Errorf("%v %v", m, err)
		}
	})
}
