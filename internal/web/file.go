package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Immutable is the Cache-Control of files whose names have the hash of their content in them, so that browsers may keep them for ever.
const Immutable = "public, max-age=31536000, immutable"

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
	".md":   "text/markdown; charset=utf-8",
}

// File is one answer that never changes. It is kept compressed only: nearly every client takes
// that, and for the others it is decompressed on the way.
type File struct {
	// Name is the file's own, without folders. Hash is the beginning of that of its content, in hexadecimal.
	Name, Hash                string
	contentType, cacheControl string
	zipped                    []byte
	size                      int
}

// NewFile compresses content, whose type its name tells. cacheControl is the header's value.
func NewFile(name string, content []byte, cacheControl string) *File {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is a valid one
	_, _ = z.Write(content)                               // a Buffer takes everything
	_ = z.Close()
	sum := sha256.Sum256(content)
	return &File{
		Name: name, Hash: hex.EncodeToString(sum[:])[:16], contentType: contentTypes[path.Ext(name)],
		cacheControl: cacheControl, zipped: b.Bytes(), size: len(content),
	}
}

// NewCompressedFile takes content that is compressed already; it fails where that is broken.
func NewCompressedFile(name string, zipped []byte, cacheControl string) (*File, error) {
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, z) //nolint:gosec // files of this binary
	if err != nil {
		return nil, err
	}
	return &File{
		Name: name, Hash: hex.EncodeToString(sum.Sum(nil))[:16], contentType: contentTypes[path.Ext(name)],
		cacheControl: cacheControl, zipped: zipped, size: int(n),
	}, nil
}

func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", f.cacheControl)
	f.Write(w, r)
}

// Write answers with the file, or with 304 where the client has it (RFC 9110, section 13.1.2).
func (f *File) Write(w http.ResponseWriter, r *http.Request) {
	zipped := acceptsGzip(r.Header.Values("Accept-Encoding"))
	etag := `"` + f.Hash + `"`
	if zipped {
		etag = `"` + f.Hash + `-gz"`
	}
	h := w.Header()
	h.Set("ETag", etag)
	h.Add("Vary", "Accept-Encoding")
	if matches(r.Header.Values("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.contentType)
	size := f.size
	if zipped {
		h.Set("Content-Encoding", "gzip")
		size = len(f.zipped)
	}
	h.Set("Content-Length", strconv.Itoa(size))
	if r.Method == http.MethodHead {
		return
	}
	f.writeBody(w, zipped)
}

func (f *File) writeBody(w http.ResponseWriter, zipped bool) {
	if zipped {
		_, _ = w.Write(f.zipped)
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(f.zipped))
	if err == nil {
		_, _ = io.Copy(w, z) //nolint:gosec // files of this binary
	}
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3); "gzip;q=0" is a refusal.
func acceptsGzip(lines []string) bool {
	for entry := range entries(lines) {
		coding, params, _ := strings.Cut(entry, ";")
		if coding = strings.TrimSpace(coding); !strings.EqualFold(coding, "gzip") && coding != "*" {
			continue
		}
		q, ok := strings.CutPrefix(strings.TrimSpace(params), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !ok || err == nil && weight > 0
	}
	return false
}

// matches compares by the weak comparison that If-None-Match asks for.
func matches(lines []string, etag string) bool {
	for entry := range entries(lines) {
		if entry == "*" || strings.TrimPrefix(entry, "W/") == etag {
			return true
		}
	}
	return false
}

// entries are the members of a header that is a comma-separated list.
func entries(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for entry := range strings.SplitSeq(line, ",") {
				if !yield(strings.TrimSpace(entry)) {
					return
				}
			}
		}
	}
}
