package extract

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cacheDir is shared by the tests, so that only one compiles the PDF engine.
var cacheDir = filepath.Join(os.TempDir(), "canopy-extract-test-"+strconv.Itoa(os.Getuid()))

func testRunner(limits Limits) *Runner {
	return NewRunner(RunnerOptions{Limits: limits, CacheDir: cacheDir, Logger: slog.New(slog.DiscardHandler)})
}

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// misbehavingFile is a document that makes the child misbehave.
func misbehavingFile(t testing.TB, how, path string) string {
	t.Helper()
	return writeFile(t, how+".txt", misbehaving+how+" "+path)
}

func wantReason(t testing.TB, err error, reason Reason) {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("error = %v, want a Failure of reason %q", err, reason)
	}
	if f.Reason != reason {
		t.Fatalf("failure = %+v, want reason %q", f, reason)
	}
	if !strings.HasSuffix(f.Message, ".") || len(f.Message) > 200 {
		t.Errorf("message %q is not a short sentence", f.Message)
	}
}

func TestRunnerReadsDocuments(t *testing.T) {
	runner := testRunner(Limits{})
	for _, test := range []struct {
		file   string
		format Format
		want   string
	}{
		{"report.pdf", PDF, "The north basin is deeper"},
		{"report.docx", DOCX, "The north basin is deeper"},
		{"report.doc", DOC, "The north basin is deeper"},
		{"cafe.utf16le.txt", Text, "Łódź"},
		{"tides.csv", CSV, "Pier A"},
	} {
		t.Run(test.file, func(t *testing.T) {
			path := filepath.Join("testdata", test.file)
			document, err := runner.Extract(t.Context(), path, test.format, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := whole(t, document)
			if !strings.Contains(got.Text, test.want) {
				t.Errorf("text %q lacks %q", got.Text, test.want)
			}
			direct, err := extractHere(t.Context(), path, test.format, Limits{}, cacheDir)
			if err != nil {
				t.Fatal(err)
			}
			wantSameResult(t, got, direct)
		})
	}
}

func TestRunnerPassesFailuresOn(t *testing.T) {
	_, err := testRunner(Limits{}).Extract(t.Context(), "testdata/encrypted.pdf", PDF, nil)
	wantReason(t, err, ReasonEncrypted)
	if err.Error() != "The PDF is encrypted." {
		t.Errorf("message = %q", err)
	}
}

func TestRunnerMissingFileIsNoFailure(t *testing.T) {
	_, err := testRunner(Limits{}).Extract(t.Context(), filepath.Join(t.TempDir(), "gone.txt"), Text, nil)
	if err == nil || isFailure(err) {
		t.Errorf("error = %v, want one that is not the document's fault", err)
	}
}

func TestRunnerSurvivesChildren(t *testing.T) {
	runner := testRunner(Limits{})
	for name, reason := range map[string]Reason{
		"overflow": ReasonDamaged,
		"exit":     ReasonDamaged,
		"segv":     ReasonDamaged,
		"garbage":  ReasonDamaged,
		"lie":      ReasonDamaged,
		"flood":    ReasonDamaged,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := runner.Extract(t.Context(), misbehavingFile(t, name, ""), Text, nil)
			runtime.ReadMemStats(&after)
			wantReason(t, err, reason)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
				t.Errorf("the parent allocated %d bytes for a broken child", grown)
			}
		})
	}
	if _, err := runner.Extract(t.Context(), "testdata/cafe.utf8.txt", Text, nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestRunnerKilledChildIsNoFailure(t *testing.T) {
	_, err := testRunner(Limits{}).Extract(t.Context(), misbehavingFile(t, "killed", ""), Text, nil)
	if err == nil || isFailure(err) {
		t.Errorf("error = %v, want one that is worth another try", err)
	}
}

func TestRunnerDeadline(t *testing.T) {
	start := time.Now()
	_, err := testRunner(Limits{Time: 300 * time.Millisecond}).Extract(t.Context(), misbehavingFile(t, "hang", ""), Text, nil)
	wantReason(t, err, ReasonTimeout)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestRunnerCancel(t *testing.T) {
	path := writeFile(t, "pid", "")
	document := misbehavingFile(t, "pid", path)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := testRunner(Limits{}).Extract(ctx, document, Text, nil)
		done <- err
	}()
	pid := waitForNumber(t, path)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the child still runs: %v", err)
	}
}

// waitForNumber waits until a file holds a whole line with a number.
func waitForNumber(t *testing.T, path string) int {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if line, whole := strings.CutSuffix(string(text), "\n"); whole {
			n, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the child did not start")
		case <-tick.C:
		}
	}
}

func TestRunnerMemoryLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is watched on Linux only")
	}
	const limit = 256 << 20
	path := writeFile(t, "eaten", "")
	document := misbehavingFile(t, "eat", path)
	_, err := testRunner(Limits{Memory: limit}).Extract(t.Context(), document, Text, nil)
	wantReason(t, err, ReasonMemory)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if eaten, err := strconv.Atoi(string(text)); err == nil && eaten > 2*limit {
		t.Errorf("the child got %d bytes under a limit of %d", eaten, limit)
	}
}

func TestRunnerWaitsForSlot(t *testing.T) {
	runner := NewRunner(RunnerOptions{Parallel: 1, CacheDir: cacheDir, Logger: slog.New(slog.DiscardHandler)})
	path := writeFile(t, "pid", "")
	document := misbehavingFile(t, "pid", path)
	first, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := runner.Extract(first, document, Text, nil)
		done <- err
	}()
	waitForNumber(t, path)
	second, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := runner.Extract(second, "testdata/cafe.utf8.txt", Text, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with the slot taken: %v", err)
	}
	stop()
	<-done
	if _, err := runner.Extract(t.Context(), "testdata/cafe.utf8.txt", Text, nil); err != nil {
		t.Errorf("with the slot free: %v", err)
	}
}

func TestRunnerUnwritableCache(t *testing.T) {
	blocked := writeFile(t, "file", "not a folder")
	if got := usableCacheDir(filepath.Join(blocked, "cache")); got != "" {
		t.Errorf("usableCacheDir = %q", got)
	}
}

func TestRunnerWarm(t *testing.T) {
	if err := testRunner(Limits{}).Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cacheDir)
	if err != nil || len(entries) == 0 {
		t.Errorf("the cache holds %d entries, error %v", len(entries), err)
	}
}

// TestChildSeesNoSecrets checks the child's environment, which holds nothing that is not listed.
func TestChildSeesNoSecrets(t *testing.T) {
	t.Setenv("SECRET_KEY", "do not tell")
	for _, entry := range childEnv() {
		if strings.HasPrefix(entry, "SECRET_KEY=") {
			t.Errorf("the child is told %s", entry)
		}
	}
}
