package devstack

import (
	"os"
	"strings"
)

const (
	// keepLog is how large a server's log may be, in bytes, when it is added to once more.
	keepLog = 8 << 20
	// tailLines is how much of its log a server's fault is told with.
	tailLines = 5
	tailBytes = 4 << 10
)

// openLog opens a server's log for one more run. A log that grew large starts anew.
func openLog(path string) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > keepLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}

// tail is the last lines of a log, on one line, for an error.
func tail(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "no log"
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "no log"
	}
	text := make([]byte, min(info.Size(), tailBytes))
	if _, err := f.ReadAt(text, info.Size()-int64(len(text))); err != nil {
		return "no log"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], " | ")
}
