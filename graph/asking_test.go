package graph

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"canopy/internal/intake"
)

// slowly is a client's file that comes when it is told to.
type slowly struct {
	io.Reader
	come    chan struct{}
	reading bool
}

func (s *slowly) Read(p []byte) (int, error) {
	s.reading = true
	<-s.come
	s.reading = false
	return s.Reader.Read(p)
}

// TestFileThatIsNotTaken: once a cell has refused a file, or was not asked at all, nobody reads that any more.
func TestFileThatIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &slowly{Reader: strings.NewReader(strings.Repeat("x", 1<<20)), come: make(chan struct{})}
		r, done, err := asks{query: "mutation", variables: map[string]any{"in": map[string]any{"file": intake.File{Name: "a.txt", Content: file}}}}.request(t.Context(), typeJSON)
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan int)
		go func() {
			head, err := io.ReadAll(io.LimitReader(r.Body, 600))
			if err != nil {
				t.Error(err)
			}
			read <- len(head)
		}()
		file.come <- struct{}{}
		<-read
		synctest.Wait()
		over := false
		go func() {
			done()
			over = true
		}()
		synctest.Wait()
		if over == file.reading {
			t.Errorf("it is over: %t; the file is read: %t", over, file.reading)
		}
		close(file.come)
		synctest.Wait()
		if !over || file.reading {
			t.Errorf("at the end it is over: %t; the file is read: %t", over, file.reading)
		}
		_, done, err = asks{query: "mutation", variables: map[string]any{"file": intake.File{Name: "a.txt", Content: file}}}.request(t.Context(), typeJSON)
		if err != nil {
			t.Fatal(err)
		}
		done() // nobody has read any of it
	})
}
