package top

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// columns are what is shown of a company beside what it is ordered by.
var columns = []string{"runsPerDay", "concurrentRuns", "deliveriesPerDay", "mailsPerDay", "documents", "storageBytes", "users"}

// titles are those of the columns.
var titles = map[string]string{
	"runsPerDay": "RUNS TODAY", "concurrentRuns": "RUNNING", "deliveriesPerDay": "DELIVERIES TODAY", "mailsPerDay": "MAILS TODAY",
	"documents": "DOCUMENTS", "storageBytes": "STORAGE", "users": "USERS",
}

// Lines shows a look to a person. clean takes from a name what would move a terminal's cursor.
func (l *Look) Lines(by string, clean func(string) string) []string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  version %s  %s\n", l.At.Format("15:04:05Z"), l.URL, l.Version, l.workers())
	if l.FailingDestinations+l.LateMails > 0 {
		fmt.Fprintf(&b, "nothing gets through to %d destinations; %d mails did not go out\n", l.FailingDestinations, l.LateMails)
	}
	b.WriteByte('\n')
	l.queues(&b)
	b.WriteByte('\n')
	l.branches(&b, by, clean)
	b.WriteByte('\n')
	l.operations(&b, clean)
	for _, note := range l.Notes {
		fmt.Fprintf(&b, "\n%s", clean(note))
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

func (l *Look) workers() string {
	if l.Workers == nil {
		return "workers unknown: Redis is away"
	}
	return fmt.Sprintf("workers: %d", len(l.Workers))
}

func (l *Look) queues(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, "QUEUE\tWAITING\tFOR")
	for _, q := range l.Queues {
		age := "-"
		if q.Waiting > 0 {
			age = time.Duration(q.Seconds * float64(time.Second)).Round(time.Second / 10).String()
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\n", q.Name, q.Waiting, age)
	}
	_ = w.Flush()
}

func (l *Look) branches(b *strings.Builder, by string, clean func(string) string) {
	shown := columns
	if !slices.Contains(shown, by) {
		shown = append([]string{by}, shown...)
	}
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(w, "COMPANY\tID")
	for _, name := range shown {
		title := titles[name]
		if title == "" {
			title = strings.ToUpper(name)
		}
		_, _ = fmt.Fprint(w, "\t"+title)
	}
	_, _ = fmt.Fprintln(w)
	for _, t := range l.Branches {
		_, _ = fmt.Fprintf(w, "%s\t%d", clean(t.Name), t.ID)
		for _, name := range shown {
			_, _ = fmt.Fprint(w, "\t"+t.cell(name))
		}
		_, _ = fmt.Fprintln(w)
	}
	_ = w.Flush()
}

// cell is how much there is, and how much of it came in the last minute.
func (t *Branch) cell(name string) string {
	text := fmt.Sprint(t.Used[name])
	if name == "storageBytes" {
		text = fmt.Sprintf("%.1f MiB", float64(t.Used[name])/(1<<20))
	}
	if rate := t.Rates[name]; rate > 0 {
		text += fmt.Sprintf(" (+%.0f/min)", rate)
	}
	return text
}

func (l *Look) operations(b *strings.Builder, clean func(string) string) {
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, "OPERATION\tCALLS\tPER SECOND\tMEAN\tP95 BELOW\tSHARE OF TIME")
	for _, o := range l.Slow {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%.1f\t%s\t%s\t%.0f%%\n", clean(o.Name), o.Count, o.PerSecond, milliseconds(o.Mean), milliseconds(o.P95), 100*o.Share)
	}
	_ = w.Flush()
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.1f ms", 1000*seconds) }
