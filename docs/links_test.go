// Package docs tests what the project's papers say of each other.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// mark is what a heading loses when it becomes an anchor.
	mark = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// papers are the Markdown files of the project by their paths.
func papers(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "node_modules" || strings.HasPrefix(name, ".") && name != "..") {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			text, err := os.ReadFile(path)
			found[path] = string(text)
			return err
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatal(len(found), err)
	}
	return found
}

// anchors are the headings of a paper, in the form of links to them.
func anchors(text string) map[string]bool {
	list := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
			list[strings.ReplaceAll(mark.ReplaceAllString(heading, ""), " ", "-")] = true
		}
	}
	return list
}

// TestLinks follows every link from one of the project's papers to another file of the project.
func TestLinks(t *testing.T) {
	all := papers(t)
	for from, text := range all {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(found[1], "#")
			to := from
			if file != "" {
				to = filepath.Join(filepath.Dir(from), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s leads to %s: %v", from, found[1], err)
			}
			if anchor != "" && !anchors(all[to])[anchor] {
				t.Errorf("%s leads to %s, where there is no such heading", from, found[1])
			}
		}
	}
}

// TestDecisions: each decision is in the index, and has the parts that every one has.
func TestDecisions(t *testing.T) {
	parts := []string{"context", "decision", "figures", "what-would-change-it"}
	all := papers(t)
	for path, text := range all {
		dir, file := filepath.Split(path)
		if filepath.Clean(dir) != "../docs/decisions" || file == "README.md" {
			continue
		}
		if !strings.Contains(all[dir+"README.md"], "]("+file+")") {
			t.Errorf("the index of decisions lacks %s", file)
		}
		for _, part := range parts {
			if !anchors(text)[part] {
				t.Errorf("%s has no part %q", file, part)
			}
		}
	}
}
