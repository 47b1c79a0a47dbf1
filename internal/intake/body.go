// Package intake reads what a request brings: bodies, within bounds; JSON, checked before it is decoded;
// forms with a file, as they come.
package intake

import (
	"io"
	"net/http"
	"time"
)

// MaxBody bounds a body that is read whole, in bytes.
const MaxBody = 1 << 20

// bodyTime is how long a client may take to send a body that is read whole.
const bodyTime = 30 * time.Second

// ReadBody reads a body whole. On an error, such as *http.MaxBytesError, it gives what it had read.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	rc := http.NewResponseController(w)
	timed := rc.SetReadDeadline(time.Now().Add(bodyTime)) == nil
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if timed && err == nil {
		// Only then: what is left of a body that does not arrive would be waited for without end.
		_ = rc.SetReadDeadline(time.Time{})
	}
	return body, err
}
