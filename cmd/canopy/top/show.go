package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// columns are what is shown of a company beside what it is ordered by.
var columns = []string{"runsPerDay", "concurrentRuns", "deliveriesPerDay", "mailsPerDay", "documents", "storageBytes", "users"}

// titles are those of the columns.
var titles = map[string]string{
	"runsPerDay": "RUNS TODAY", "concurrentRuns": "RUNNING", "deliveriesPerDay": "DELIVERIES TODAY", "mailsPerDay": "MAILS TODAY",
	"documents": "DOCUMENTS", "storageBytes": "STORAGE", "users": "USERS",
}

// Lines shows a look to a person, in as much room as there is. clean takes from a name what would move a terminal's cursor.
func (l *Look) Lines(by string, clean func(string) string, room Size) []string {
	lines := []string{fmt.Sprintf("%s  %s  version %s  %s", l.At.Format("15:04:05Z"), l.URL, l.Version, l.workers())}
	if l.FailingDestinations+l.LateMails > 0 {
		lines = append(lines, fmt.Sprintf("nothing gets through to %d destinations; %d mails did not go out", l.FailingDestinations, l.LateMails))
	}
	lines = append(append(lines, ""), l.queues().lines(room.Width)...)
	branches, operations := l.branches(by, clean), l.operations(clean)
	if room.Height > 0 {
		// Beside the rows of both there are their heads, a line above each, and the notes, each with a line above.
		first, second := share(room.Height-len(lines)-4-2*len(l.Notes), len(branches)-1, len(operations)-1)
		branches, operations = branches[:min(len(branches), 1+first)], operations[:min(len(operations), 1+second)]
	}
	lines = append(append(lines, ""), branches.lines(room.Width)...)
	if len(l.Branches) == 0 {
		lines = append(lines, "no company below has any of it; --by orders them by another limit")
	}
	lines = append(append(lines, ""), operations.lines(room.Width)...)
	for _, note := range l.Notes {
		lines = append(lines, "", clean(note))
	}
	if room.Width > 0 {
		for i, line := range lines {
			lines[i] = shorten(line, room.Width)
		}
	}
	return lines
}

func (l *Look) workers() string {
	if l.Workers == nil {
		return "workers unknown: Redis is away"
	}
	return fmt.Sprintf("workers: %d", len(l.Workers))
}

func (l *Look) queues() table {
	t := table{{"QUEUE", "WAITING", "FOR"}}
	for _, q := range l.Queues {
		age := "-"
		if q.Waiting > 0 {
			age = time.Duration(q.Seconds * float64(time.Second)).Round(time.Second / 10).String()
		}
		t = append(t, []string{q.Name, fmt.Sprint(q.Waiting), age})
	}
	return t
}

// branches begin with what they are ordered by, which is the last to be left out.
func (l *Look) branches(by string, clean func(string) string) table {
	shown := append([]string{by}, slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == by })...)
	head := []string{"COMPANY", "ID"}
	for _, name := range shown {
		head = append(head, cmp.Or(titles[name], strings.ToUpper(name)))
	}
	t := table{head}
	for _, b := range l.Branches {
		row := []string{clean(b.Name), fmt.Sprint(b.ID)}
		for _, name := range shown {
			row = append(row, b.cell(name))
		}
		t = append(t, row)
	}
	return t
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

func (l *Look) operations(clean func(string) string) table {
	t := table{{"OPERATION", "CALLS", "PER SECOND", "MEAN", "P95 BELOW", "SHARE OF TIME"}}
	for _, o := range l.Slow {
		t = append(t, []string{
			clean(o.Name), fmt.Sprint(o.Count), fmt.Sprintf("%.1f", o.PerSecond), milliseconds(o.Mean), milliseconds(o.P95), fmt.Sprintf("%.0f%%", 100*o.Share),
		})
	}
	return t
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.1f ms", 1000*seconds) }
