package vector

import (
	"fmt"
	"testing"

	"canopy/internal/models/lexical"
)

// codes are passages with what somebody asks who writes a code in another way, a word without its accents, or a letter amiss.
var codes = []struct{ passage, question string }{
	{"The valve VX2291-B closes by itself.", "vx2291b"},
	{"The valve VX2292-B opens by hand.", "VX2292-B"},
	{"Order KT-88-104 was sent.", "kt88104"},
	{"Order KT-88-105 came back.", "KT 88 105"},
	{"The sum is 1234,56 in all.", "1234,56"},
	{"The sum is 1235,56 in part.", "1235.56"},
	{"We are audited by ISO9001.", "ISO 9001"},
	{"Safety follows ISO 27001 here.", "iso27001"},
	{"Vessels are made to EN 13445.", "EN13445"},
	{"Pipes are made to EN 13480.", "EN 13480"},
	{"Set maxRetryCount to three.", "max retry count"},
	{"Set min_pool_size to one.", "minPoolSize"},
	{"The flag readOnlyMode stops writes.", "readonlymode"},
	{"Error E4711 tells of a lost link.", "E-4711"},
	{"Error E4712 tells of a full disk.", "e4712"},
	{"Version 2.14.3 mends it.", "2.14.3"},
	{"Version 2.15.3 brings it.", "2.15.3"},
	{"The Café is in the yard.", "cafe"},
	{"Send your résumé to us.", "resume"},
	{"The façade was painted.", "facade"},
	{"Müller runs the shop.", "muller"},
	{"The compressor is noisy.", "compresor"},
	{"A thermostat keeps it warm.", "thermostst"},
	{"The warranty ends in May.", "waranty"},
	{"The gearbox needs oil.", "gearbix"},
	{"A separator takes the water.", "seperator"},
	{"The embassy is closed.", "embasy"},
	{"The calendar hangs there.", "calender"},
}

// TestCodesAndSlips: at least 26 of 28 are found.
func TestCodesAndSlips(t *testing.T) {
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		b := NewSparseBuilder(model, nil)
		for i, c := range codes {
			b.Add(SparseRow{Chunk: int64(i), Document: 1, Vector: model.Embed(c.passage)})
		}
		x, found := b.Build(), 0
		for i, c := range codes {
			if hits := x.Search(model.Embed(c.question), Filter{Top: 1}); len(hits) == 1 && hits[0].Chunk == int64(i) {
				found++
			} else if model == lexical.Two {
				t.Logf("%q finds %v", c.question, hits)
			}
		}
		t.Logf("%s: %d of %d", model.Name, found, len(codes))
		if model == lexical.Two && (len(codes) != 28 || found < 26) {
			t.Errorf("%d of %d", found, len(codes))
		}
	}
}

// TestNothingUnrelatedIsFound: of a table of 20,000 rows the code of a row finds it alone.
func TestNothingUnrelatedIsFound(t *testing.T) {
	const rows, every = 20_000, 20
	b := NewSparseBuilder(lexical.Two, nil)
	for i := range rows {
		b.Add(SparseRow{Chunk: int64(i), Document: 1, Vector: lexical.Two.Embed(fmt.Sprintf("number: N%06d; place: shelf %dx", i, i%97))})
	}
	x := b.Build()
	for i := 0; i < rows; i += every {
		if hits := x.Search(lexical.Two.Embed(fmt.Sprintf("N%06d", i)), Filter{Top: 5}); len(hits) != 1 || hits[0].Chunk != int64(i) {
			t.Fatalf("row %d: %v", i, hits)
		}
	}
}
