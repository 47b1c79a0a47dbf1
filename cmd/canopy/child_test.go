package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"canopy/internal/extract"
)

// TestChildrenBeginWithoutTheProgram: what reads a document is there before the schema, the statements and the doors are made ready, and does
// without them.
func TestChildrenBeginWithoutTheProgram(t *testing.T) {
	document, err := os.Open("child_test.go")
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	child := exec.CommandContext(t.Context(), os.Args[0], extract.ChildCommand, `{"Format":"txt"}`)
	var out, errs bytes.Buffer
	child.Stdin, child.Stdout, child.Stderr, child.Env = document, &out, &errs, []string{"GODEBUG=inittrace=1"}
	if err := child.Run(); err != nil || !strings.Contains(out.String(), "package main") {
		t.Fatalf("%v, %q: %s", err, out.String(), errs.String())
	}
	begun := errs.String()
	if !strings.Contains(begun, "init canopy/internal/extract @") {
		t.Fatalf("what was begun is not told: %s", begun)
	}
	for _, late := range []string{"graph/generated", "db", "rest", "internal/webhook", "resolvers"} {
		if strings.Contains(begun, "init canopy/"+late+" @") {
			t.Errorf("%s is begun for a child", late)
		}
	}
}
