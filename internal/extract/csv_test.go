package extract

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rowsOf cuts a CSV text at its marks.
func rowsOf(text string, marks []Mark) []string {
	var rows []string
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1].Offset
		}
		rows = append(rows, strings.Trim(text[m.Offset:end], "\n"))
	}
	return rows
}

func TestCSVRows(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		rows   []string
		header string
	}{
		"plain":              {"a,b\n1,2\n", []string{"a,b", "1,2"}, "a,b"},
		"no header":          {"1,2\n3,4\n", []string{"1,2", "3,4"}, ""},
		"line end in quotes": {"a,b\n1,\"x\ny\"\n3,4", []string{"a,b", "1,\"x\ny\"", "3,4"}, "a,b"},
		"doubled quotes":     {"a\n\"say \"\"hi\"\"\n\"\n2\n", []string{"a", "\"say \"\"hi\"\"\n\"", "2"}, "a"},
		"quote inside":       {"a,b\n5\" pipe,x\n6\" pipe,y\n", []string{"a,b", "5\" pipe,x", "6\" pipe,y"}, "a,b"},
		"stray quote":        {"a,b\n\"x,1\ny,2\n", []string{"a,b", "\"x,1", "y,2"}, "a,b"},
		"blank lines":        {"a\n\n\nb\n", []string{"a", "b"}, "a"},
		"semicolons":         {"a;b\n1;\"x\ny\"\n", []string{"a;b", "1;\"x\ny\""}, "a;b"},
		"tabs":               {"a\tb\n1\t\"x\ny\"\n", []string{"a\tb", "1\t\"x\ny\""}, "a\tb"},
		"quoted header":      {"\"a, b\",c\n1,2\n", []string{"\"a, b\",c", "1,2"}, "\"a, b\",c"},
	} {
		t.Run(name, func(t *testing.T) {
			marks, header := csvMarks(test.text)
			if got := rowsOf(test.text, marks); !slices.Equal(got, test.rows) {
				t.Errorf("rows %q, want %q", got, test.rows)
			}
			if header != test.header {
				t.Errorf("header %q, want %q", header, test.header)
			}
			for i, m := range marks {
				if m.Row != i+1 {
					t.Errorf("mark %d is of row %d", i, m.Row)
				}
			}
		})
	}
}

// TestCSVAgreesWithWriter checks the rows of what encoding/csv writes.
func TestCSVAgreesWithWriter(t *testing.T) {
	field := rapid.OneOf(rapid.StringMatching(`[a-z0-9 ",;\n]{0,8}`), rapid.StringMatching(`[a-zäß]{1,5}`))
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(2, 5).Draw(t, "columns")
		var out strings.Builder
		w := csv.NewWriter(&out)
		records := [][]string{slices.Repeat([]string{"name"}, columns)}
		records = append(records, rapid.SliceOf(rapid.SliceOfN(field, columns, columns)).Draw(t, "records")...)
		if err := w.WriteAll(records); err != nil {
			t.Fatal(err)
		}
		rows := rowsOf(out.String(), first(csvMarks(out.String())))
		if len(rows) != len(records) {
			t.Fatalf("%d rows of %d in %q", len(rows), len(records), out.String())
		}
		for i, row := range rows {
			got, err := csv.NewReader(strings.NewReader(row)).Read()
			if err != nil || !slices.Equal(got, records[i]) {
				t.Fatalf("row %d is %q, want %q (%v)", i, got, records[i], err)
			}
		}
	})
}

func first[A, B any](a A, _ B) A { return a }

// TestManyRows checks that marks cost no more than the text.
func TestManyRows(t *testing.T) {
	text := strings.Repeat("a\n", 2<<20)
	marks, _ := csvMarks(text)
	if n := len(marks); n < denseMarks || n > maxMarks(len(text)) {
		t.Errorf("%d marks for %d bytes", n, len(text))
	}
	if last := marks[len(marks)-1]; last.Row != last.Offset/2+1 {
		t.Errorf("the last mark is %+v", last)
	}
}
