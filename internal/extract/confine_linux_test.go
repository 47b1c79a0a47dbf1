package extract

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"canopy/internal/devstack/devtest"
)

// The ways in which a child confines itself, each by itself and together, as a child does it; and none, which
// shows that it is they who refuse.
var confinements = map[string]func() error{
	"nothing":  func() error { return nil },
	"landlock": func() error { return restrictFiles() },
	"seccomp":  func() error { return filterCalls(needed) },
	"all": func() error {
		_, err := confine(Limits{}.withDefaults())
		return err
	},
}

func init() {
	for name, how := range confinements {
		tricks["escape-"+name] = func(where string) { escape(how, where) }
	}
	tricks["limits"] = tellLimits
}

// attempts are what a child that a document has taken over would try: with a file that it was not given, in a
// folder of the test's, with the test's own listener, and with a program that does nothing. All of it is
// harmless where it succeeds.
func attempts(dir, listener string) map[string]func() error {
	file := filepath.Join(dir, "other.txt")
	return map[string]func() error{
		"read a file":   func() error { return closed(os.Open(file)) },
		"write a file":  func() error { return closed(os.OpenFile(file, os.O_WRONLY, 0)) },
		"open a folder": func() error { return closed(os.Open(dir)) },
		"connect":       func() error { return closed(net.Dial("tcp", listener)) },
		"run a program": func() error {
			started, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
			if err == nil {
				_, err = started.Wait()
			}
			return err
		},
	}
}

func closed[C interface{ Close() error }](opened C, err error) error {
	if err == nil {
		err = opened.Close()
	}
	return err
}

// escape confines this child, tries everything once, and answers with what came of it.
func escape(how func() error, where string) {
	dir, listener, _ := strings.Cut(where, "|")
	var report strings.Builder
	if err := how(); err != nil {
		answer(fmt.Sprintf("none: %v", err)) // nothing is tried that nothing holds
	}
	for name, try := range attempts(dir, listener) {
		err := try()
		refused := errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES)
		fmt.Fprintf(&report, "%s: refused %v: %v\n", name, refused, err)
	}
	fmt.Fprintf(&report, "user: %d\n", os.Getuid())
	answer(report.String())
}

// tellLimits answers with what the kernel holds this child to. before is how many files it may have before.
func tellLimits(before string) {
	if n, err := strconv.ParseUint(before, 10, 64); err == nil {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			answer(err.Error())
		}
	}
	if err := limitResources(Limits{}.withDefaults()); err != nil {
		answer(err.Error())
	}
	var report strings.Builder
	for name, what := range map[string]int{"files": unix.RLIMIT_NOFILE, "written": unix.RLIMIT_FSIZE, "core": unix.RLIMIT_CORE} {
		var limit unix.Rlimit
		if err := unix.Getrlimit(what, &limit); err != nil {
			answer(err.Error())
		}
		fmt.Fprintf(&report, "%s: %d %d\n", name, limit.Cur, limit.Max)
	}
	answer(report.String())
}

// answer ends the child with a text.
func answer(text string) {
	if writeAnswer(os.Stdout, childAnswer{result: &Result{Text: text}}, nil) != nil {
		os.Exit(9)
	}
	os.Exit(0)
}

// tricked has a child do a trick, and gives its answer.
func tricked(t *testing.T, trick, where string) string {
	t.Helper()
	document, err := testRunner(Limits{}).Extract(t.Context(), misbehavingFile(t, trick, where), Text, nil)
	if err != nil {
		t.Fatalf("%s: %v", trick, err)
	}
	return whole(t, document).Text
}

// TestChildrenAreConfined has children try, from inside, what a hostile document might make them do.
func TestChildrenAreConfined(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	dir := filepath.Dir(writeFile(t, "other.txt", "not for children"))
	held := 0
	for name := range confinements {
		report := tricked(t, "escape-"+name, dir+"|"+listener.Addr().String())
		if why, none := strings.CutPrefix(report, "none: "); none {
			t.Logf("%s does not hold here: %s", name, why)
			continue
		}
		if name != "nothing" {
			held++
			t.Logf("%s holds here", name)
		}
		for attempt := range attempts("", "") {
			want := fmt.Sprintf("%s: refused %v: ", attempt, name != "nothing")
			if known(name, attempt) && !strings.Contains(report, want) {
				t.Errorf("%s is not %q:\n%s", name, want, report)
			}
		}
		if name == "all" && os.Getuid() == 0 && strings.Contains(report, "user: 0\n") {
			t.Errorf("a child of root is root: %s", report)
		}
	}
	if held == 0 {
		t.Error("nothing confines children here")
	}
}

// known tells whether a way of confinement knows of what is attempted. Older Landlocks know no connections.
func known(name, attempt string) bool {
	version, err := landlockVersion()
	return name != "landlock" || attempt != "connect" || err == nil && version >= 4
}

// TestChildrenAreLimited asks a child what the kernel holds it to.
func TestChildrenAreLimited(t *testing.T) {
	for before, files := range map[int]int{openFiles + 1: openFiles, openFiles - 1: openFiles - 1} {
		got := strings.Split(strings.TrimSpace(tricked(t, "limits", strconv.Itoa(before))), "\n")
		slices.Sort(got)
		if want := []string{"core: 0 0", fmt.Sprintf("files: %d %[1]d", files), "written: 0 0"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestUnconfinedIsToldOnce: the log has it once what a system does not let children do.
func TestUnconfinedIsToldOnce(t *testing.T) {
	for what, level := range map[string]string{unconfined: "WARN", confinedByHalf: "INFO"} {
		log := &devtest.Log{}
		runner := NewRunner(RunnerOptions{CacheDir: cacheDir, Logger: slog.New(slog.NewTextHandler(log, nil))})
		errs := &headBuffer{max: maxStderr}
		tell(errs, what, errors.Join(errors.New("no such call"), errors.New("nor this one")))
		for range 3 {
			runner.tellUnconfined(t.Context(), errs)
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level="+level) || !strings.Contains(text, `reason="no such call; nor this one"`) {
			t.Errorf("%s%s", what, text)
		}
	}
}
