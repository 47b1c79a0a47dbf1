package mail

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// fileSender is whom mails in files come from.
const fileSender = "canopy@localhost"

// Files keeps mails as .eml files in a folder and shows their links in the log, for development.
type Files struct {
	Dir string
	Log *slog.Logger
}

var linkPattern = regexp.MustCompile(`https?://\S+`)

// Send writes a mail to a file of its own, named by the time and the message's id.
func (f *Files) Send(ctx context.Context, m Message) error {
	msg, err := compose(m, fileSender)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return err
	}
	stamp := time.Now().UTC().Format("20060102T150405.000000")
	path := filepath.Join(f.Dir, fmt.Sprintf("%s-%s.eml", stamp, m.ID))
	if err := msg.WriteToFile(path); err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "mail", "to", m.To, "subject", m.Subject, "file", path, "link", linkPattern.FindString(m.Text))
	return nil
}
