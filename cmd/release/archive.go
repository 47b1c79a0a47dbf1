package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"os"
	"time"
)

// file is a file of an archive.
type file struct {
	name    string
	mode    int64
	content []byte
}

// pack writes a .tar.gz of files in a folder and gives its SHA-256. The bytes depend on nothing but
// the arguments: the owner is nobody in particular, and the time is the given one.
func pack(to, folder string, files []file, when time.Time) (sum [sha256.Size]byte, err error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return sum, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: when, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return sum, err
		}
		if _, err := w.Write(f.content); err != nil {
			return sum, err
		}
	}
	if err := w.Close(); err != nil {
		return sum, err
	}
	if err := compressed.Close(); err != nil {
		return sum, err
	}
	return sha256.Sum256(out.Bytes()), write(to, out.Bytes())
}

// write makes a file that everybody may read, as far as the umask lets them.
func write(to string, content []byte) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
