package extract

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type fataler interface{ Fatal(...any) }

// readRows reads a table that is not wide.
func readRows(t fataler, text string) ([]Mark, string) {
	r, err := csvText(text, Limits{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	return r.Marks, r.Header
}

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
		"years":              {"2023;2024;2025\n1;2;3\n", []string{"2023;2024;2025", "1;2;3"}, "2023;2024;2025"},
		"a corner and years": {";2023;2024\nFees;1,5;2,5\n", []string{";2023;2024", "Fees;1,5;2,5"}, ";2023;2024"},
		"years as data":      {"2023,2024\n2001,2002\n", []string{"2023,2024", "2001,2002"}, ""},
		"titles above":       {"Fees, in euros\nof all piers;;\n\nPier;Fee;Paid\nA;1,5;2,5\n", []string{"Fees, in euros", "of all piers;;", "Pier;Fee;Paid", "A;1,5;2,5"}, "Pier;Fee;Paid"},
		"quoted header":      {"\"a, b\",c\n1,2\n", []string{"\"a, b\",c", "1,2"}, "\"a, b\",c"},
	} {
		t.Run(name, func(t *testing.T) {
			marks, header := readRows(t, test.text)
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
		rows := rowsOf(out.String(), first(readRows(t, out.String())))
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
	marks, _ := readRows(t, text)
	if n := len(marks); n < denseMarks || n > maxMarks(len(text)) {
		t.Errorf("%d marks for %d bytes", n, len(text))
	}
	if last := marks[len(marks)-1]; last.Row != last.Offset/2+1 {
		t.Errorf("the last mark is %+v", last)
	}
}

func TestWideCSV(t *testing.T) {
	text := "Soundings\nPier,B,C,D,E,F,G,H,\"I, \"\"last\"\"\"\nA,,,,,,,\"x\ny\",7\n\n" + strings.Repeat(",,,,,,,,\n", 300) + "Z,1\n"
	r, err := csvText(text, Limits{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if want := "Soundings\nPier,B,C,D,E,F,G,H,\"I, \"\"last\"\"\"\nPier: A; H: x y; I, \"last\": 7\nPier: Z; B: 1\n"; r.Text != want {
		t.Errorf("%q, want %q", r.Text, want)
	}
	if m := markAt(r, strings.Index(r.Text, "Z")); m.Row != 304 || m.Heading != "Soundings" || r.Header != "" {
		t.Errorf("%+v, header %q", m, r.Header)
	}
	wantClean(t, r) // rows that say nothing count
}

// TestHostileCSV: a million columns, and names that would make a file much longer.
func TestHostileCSV(t *testing.T) {
	million := strings.Repeat("a,", 1_000_000) + "a\n"
	names := strings.Repeat(strings.Repeat("n", 200)+",", 1000) + "n\n"
	for name, text := range map[string]string{
		"a million columns": million + million, "empty fields": "a" + strings.Repeat(",b", 100) + "\n" + strings.Repeat(strings.Repeat(",", 100)+"\n", 100_000),
		"long names": names + strings.Repeat(strings.Repeat("1,", 1000)+"1\n", 1000), "quotes": strings.Repeat("\"", 8<<20), "open quotes": strings.Repeat("\"a,", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a", text), CSV, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := whole(t, document); len(r.Text) > 20*len(text) {
				t.Errorf("%d bytes of %d", len(r.Text), len(text))
			}
		})
	}
}
