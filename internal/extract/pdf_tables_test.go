package extract

import (
	"fmt"
	"strings"
	"testing"
)

// drawn is a page's content that draws words at places.
func drawn(words ...string) string {
	var b strings.Builder
	b.WriteString("BT /F1 10 Tf ")
	for _, w := range words {
		var x, y int
		var text string
		_, _ = fmt.Sscanf(w, "%d,%d ", &x, &y)
		_, text, _ = strings.Cut(w, " ")
		fmt.Fprintf(&b, "1 0 0 1 %d %d Tm (%s) Tj ", x, y, text)
	}
	return b.String() + "ET"
}

func TestPDFTables(t *testing.T) {
	document, err := testRunner(Limits{}).Extract(t.Context(), "testdata/tables.pdf", PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := whole(t, document).Text
	for _, want := range []string{
		"\nPier\tDepth (m)\tBottom\tBuoy\nPier: Fish Quay; Depth (m): 7.5; Bottom: soft mud; Buoy: red\n",
		"\nPier: Old Mole; Depth (m): 3; Bottom: rock with weed; Buoy: none\nPier: Customs Stairs; Depth (m): 4.75; Bottom: gravel; Buoy: red and white\nThe piers were",
		"\nMonth: March; Keeper: Emmy Noether; Remarks of the keeper: The lamp was out for a night, and was mended on the next day by the smith.\nEnd of",
		"\nItem\t2022\t2023\t2024\nItem: Fees; 2022: 120; 2023: 1,300; 2024: 14\n",
		"\nItem: Coal; 2022: 18; 2023: 19; 2024: 20\nThis is",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestPDFTableShapes(t *testing.T) {
	for name, test := range map[string]struct {
		words []string
		want  string
	}{
		"empty cells": {
			[]string{"50,700 Pier", "200,700 Depth", "350,700 Buoy", "50,680 North", "205,680 7.5 m", "350,680 red", "50,660 South", "350,660 green"},
			"Pier\tDepth\tBuoy\nPier: North; Depth: 7.5 m; Buoy: red\nPier: South; Buoy: green\n",
		},
		"names and values": {
			[]string{"50,700 Name", "200,700 Alice", "50,680 Town", "200,680 Riga", "50,660 Trade", "200,660 Smith"},
			"Name Alice\nTown Riga\nTrade Smith\n",
		},
		"two columns of prose": {
			[]string{
				"50,700 The harbour was sounded in March, and", "320,700 what follows is the mean of both, as far",
				"50,688 every pier was visited twice, at high", "320,688 as the lead line could tell it to those",
				"50,676 water and at low water, by a boat with", "320,676 who held it in the cold wind of March.",
			},
			"The harbour was sounded in March, and what follows is the mean of both, as far\nevery pier was visited twice, at high as the lead line could tell it to those\n" +
				"water and at low water, by a boat with who held it in the cold wind of March.\n",
		},
		"columns drawn one after the other": {
			[]string{"50,700 Pier", "50,680 North", "50,660 South", "200,700 Depth", "200,680 7.5 m", "200,660 8.5 m"},
			"Pier\nNorth\nSouth\nDepth\n7.5 m\n8.5 m\n",
		},
		"rows too far apart": {
			[]string{"50,700 Pier", "200,700 Depth", "350,700 Buoy", "50,600 A", "200,600 7", "350,600 red", "50,500 B", "200,500 8", "350,500 green"},
			"Pier Depth Buoy\nA 7 red\nB 8 green\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(Limits{}).Extract(t.Context(), writeFile(t, "a.pdf", string(onePage(stream(drawn(test.words...))))), PDF, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := whole(t, document); r.Text != test.want {
				t.Errorf("%q\nwant %q", r.Text, test.want)
			}
		})
	}
}

// TestHostilePDFTables: rows and columns without an end, and characters at places that there are not. They are read, or end as a
// document that is at fault.
func TestHostilePDFTables(t *testing.T) {
	var many, wide, odd strings.Builder
	many.WriteString("BT /F1 10 Tf ")
	for i := range 60_000 {
		fmt.Fprintf(&many, "1 0 0 1 50 %d Tm (a%d) Tj 1 0 0 1 200 %d Tm (b) Tj 1 0 0 1 300 %d Tm (1) Tj ", -12*i, i, -12*i, -12*i)
	}
	wide.WriteString("BT /F1 10 Tf ")
	for row := range 30 {
		for column := range 3000 {
			fmt.Fprintf(&wide, "1 0 0 1 %d %d Tm (c) Tj ", 40*column, 700-12*row)
		}
	}
	odd.WriteString("BT ")
	for i := range 2000 {
		fmt.Fprintf(&odd, "/F1 %d Tf %d 0 0 %d %d %d Tm (x y) Tj ", i%3-1, i%5-2, i%7-3, i*1_000_003%2_000_000_011, i*31%1_000_000_007)
	}
	for name, content := range map[string]string{"many rows": many.String() + "ET", "many columns": wide.String() + "ET", "odd places": odd.String() + "ET"} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a", string(onePage(stream(content)))), PDF, nil)
			if err != nil {
				if !isFailure(err) {
					t.Error(err)
				}
				return
			}
			whole(t, document)
		})
	}
}
