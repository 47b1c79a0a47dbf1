package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecord: each run adds a line to the history, and the picture shows the last one.
func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	for _, ratio := range []float64{0.5, 2.346} {
		if err := record(file, "v1", []score{{name: "a & b", ratio: ratio}}); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	var last kept
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 2 || last.Release != "v1" || last.Ratios["a & b"] != 2.35 {
		t.Errorf("%v %s", err, raw)
	}
	picture, err := os.ReadFile(filepath.Join(filepath.Dir(file), "ratios.svg"))
	if err != nil || !strings.Contains(string(picture), ">2.35<") {
		t.Errorf("%v %s", err, picture)
	}
	for d := xml.NewDecoder(strings.NewReader(string(picture))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}
