package top

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"canopy/clients/go/schema"
)

// busy is a platform with much of everything.
func busy() *Look {
	l := &Look{At: time.Now(), URL: "https://api.example.com", Version: "1.2.3", Workers: []*schema.Worker{}, LateMails: 3}
	for _, name := range []string{"runs", "documents", "webhooks", "mail"} {
		l.Queues = append(l.Queues, Queue{Name: name, Waiting: 1_000_000, Seconds: 86_400.7})
	}
	for i := range 10 {
		l.Branches = append(l.Branches, Branch{
			ID: 1_000_000 + int64(i), Name: fmt.Sprintf("Company %d with a name that is long, ünd not ASCII", i),
			Used:  map[string]int64{"runsPerDay": 123_456, "deliveriesPerDay": 7_654_321, "storageBytes": 1 << 40, "users": 54_321, "apiKeys": int64(i)},
			Rates: map[string]float64{"runsPerDay": 12_345, "deliveriesPerDay": 65_432},
		})
		l.Slow = append(l.Slow, Operation{Name: fmt.Sprintf("GET /v1/contexts/{id}/queries/and/more/of/it/%d", i), Count: 1_000_000, PerSecond: 1234.5, Mean: 0.0123, P95: 10, Share: 0.5})
	}
	return l
}

// TestLooksFitTheirTerminal: nothing is wider or longer than there is room, and what matters most is there.
func TestLooksFitTheirTerminal(t *testing.T) {
	whole := busy().Lines("runsPerDay", strings.Clone, Size{})
	for _, size := range []Size{{80, 24}, {132, 43}, {200, 60}, {40, 10}, {80, 200}, {1, 1}} {
		lines := busy().Lines("apiKeys", strings.Clone, size)
		if len(lines) > size.Height && size.Height >= 24 {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > size.Width && size.Width >= 40 {
				t.Errorf("%v: %d wide: %s", size, n, line)
			}
		}
		if size.Width < 80 {
			continue
		}
		text := strings.Join(lines, "\n")
		for _, part := range []string{"QUEUE", "webhooks", "COMPANY", "APIKEYS", "Company 3", "OPERATION", "CALLS", "MEAN", "GET /v1/contexts/"} {
			if !strings.Contains(text, part) {
				t.Errorf("%v lacks %s:\n%s", size, part, text)
			}
		}
		if strings.Contains(text, "USERS") != (size.Width == 200) {
			t.Errorf("%v:\n%s", size, text)
		}
	}
	if n := slices.IndexFunc(whole, func(l string) bool { return strings.HasPrefix(l, "Company 9 with a name that is long, ünd not ASCII") }); n < 0 || len(whole) != 32 {
		t.Errorf("%d lines:\n%s", len(whole), strings.Join(whole, "\n"))
	}
}

// TestLooksSayThatThereIsNothing: a table without rows says why.
func TestLooksSayThatThereIsNothing(t *testing.T) {
	quiet := busy()
	quiet.Branches = nil
	if text := strings.Join(quiet.Lines("runsPerDay", strings.Clone, Size{80, 24}), "\n"); !strings.Contains(text, "no company below has any of it") {
		t.Error(text)
	}
	if text := strings.Join(busy().Lines("runsPerDay", strings.Clone, Size{80, 24}), "\n"); strings.Contains(text, "no company below") {
		t.Error(text)
	}
}
