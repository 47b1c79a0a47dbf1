package canopy

import (
	"bufio"
	"io"
	"iter"
	"strings"
)

// mostEvent is how long a line of a stream may be, in bytes.
const mostEvent = 16 << 20

// event is one of a stream of server-sent events.
type event struct{ name, data string }

// events reads a stream. One that breaks off gives an error.
func events(r io.Reader) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, mostEvent)
		var e event
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case lines.Text() == "" && e.name != "":
				if !yield(e, nil) {
					return
				}
				e = event{}
			case name == "event":
				e.name = value
			case name == "data" && e.data != "":
				e.data += "\n" + value
			case name == "data":
				e.data = value
			}
		}
		err := lines.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		yield(event{}, err)
	}
}
