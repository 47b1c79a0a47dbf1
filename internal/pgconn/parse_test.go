package pgconn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lib/pq"
)

func TestParse(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:p@one/db":                                    "one:5432 any u:p db",
		"postgresql://u:p@one:6543/db":                             "one:6543 any u:p db",
		"postgres://u:p@one:6543/db?target_session_attrs=primary":  "one:6543 primary u:p db",
		"postgres://u:p@one:1,two:2/db":                            "one:1 two:2 read-write u:p db",
		"postgres://u:p@one,two:2/db":                              "one:5432 two:2 read-write u:p db",
		"postgres://u:p@one,two,three/db":                          "one:5432 two:5432 three:5432 read-write u:p db",
		"postgres://u:p@one,two/db?port=7":                         "one:7 two:7 read-write u:p db",
		"postgres://u:p@one,two/db?port=7,8":                       "one:7 two:8 read-write u:p db",
		"postgres://u:p@[::1]:1,[fd00::2]:2/db":                    "::1:1 fd00::2:2 read-write u:p db",
		"postgres://u:p%40%2F,@one:1,two:2/db":                     "one:1 two:2 read-write u:p@/, db",
		"postgres://u:p@one:1,two:2?dbname=db&sslmode=disable":     "one:1 two:2 read-write u:p db",
		"postgres://u:p@/db?host=one,two&port=1,2":                 "one:1 two:2 read-write u:p db",
		"postgres://u:p@one:1,two:2/db?target_session_attrs=any":   "one:1 two:2 any u:p db",
		"postgres://u:p@one:1,two:2/db?target_session_attrs=stand": "fault",
		"postgres://u:p@one:1,two:x/db":                            "fault",
		"postgres://u:p@one,/db":                                   "fault",
		"mysql://u:p@one/db":                                       "fault",
		"host=one dbname=db":                                       "fault",
		"postgres://u:p@one:1,tw o:2/db":                           "fault",
	} {
		cfg, err := Parse(url)
		if got := told(cfg, err); got != want {
			t.Errorf("%s: %s, not %s (%v)", url, got, want, err)
		}
	}
}

// TestToWrite: a URL of several hosts says that the one that takes writes is meant, and all else stays.
func TestToWrite(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:p@one:1/db?sslmode=disable":                "postgres://u:p@one:1/db?sslmode=disable",
		"postgres://u:p@one:1,two:2/db":                          "postgres://u:p@one:1,two:2/db?target_session_attrs=read-write",
		"postgres://u:p@one:1,two:2/db?":                         "postgres://u:p@one:1,two:2/db?target_session_attrs=read-write",
		"postgres://u:p@one,two/db?sslmode=disable":              "postgres://u:p@one,two/db?sslmode=disable&target_session_attrs=read-write",
		"postgres://u:p@one,two/db?target_session_attrs=primary": "postgres://u:p@one,two/db?target_session_attrs=primary",
		"postgres://u:p@one,/db":                                 "",
	} {
		got, err := ToWrite(url)
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%s: %s (%v)", url, got, err)
		}
	}
}

func told(c pq.Config, err error) string {
	if err != nil {
		return "fault"
	}
	words := []string{fmt.Sprintf("%s:%d", c.Host, c.Port)}
	for _, m := range c.Multi {
		words = append(words, fmt.Sprintf("%s:%d", m.Host, m.Port))
	}
	attrs := string(c.TargetSessionAttrs)
	if attrs == "" {
		attrs = "any"
	}
	return strings.Join(append(words, attrs, c.User+":"+c.Password, c.Database), " ")
}
