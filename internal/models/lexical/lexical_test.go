package lexical

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func terms(text string) []string {
	var all []string
	for t := range Terms(text) {
		all = append(all, t.Text)
	}
	return all
}

func TestTerms(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"stems and case", "Running DOGS ran", "run dog ran"},
		{"stop words", "The lift of a wing", "lift wing"},
		{"apostrophes", "It's the wing's, we don't", "wing"},
		{"digits", "Mach 2.5 in 1958", "mach 2 5 1958"},
		{"compatibility forms", "ﬁeld Ｗｉｎｇ", "field wing"},
		{"other languages stay whole", "Größe naïve été", "größe naïve été"},
		{"composed as one", "re\u0301sume\u0301", "résumé"},
		{"ideographs in pairs", "境界層", "境界 界層"},
		{"one ideograph", "翼", "翼"},
		{"half-width kana", "ﾃｽﾄ", "テス スト"},
		{"mixed", "CFD解析は", "cfd 解析 析は"},
		{"hangul", "한국어", "한국 국어"},
		{"Thai marks belong to their letter", "ที่", "ท\u0e35 \u0e35\u0e48"},
		{"punctuation", "... !? --", ""},
		{"mark alone", "\u0301 a\u0301", "á"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(terms(tt.text), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func cosine(a, b Vector) float64 {
	var dot float64
	for _, x := range a {
		if i, ok := slices.BinarySearchFunc(b, x.Bucket, func(c Count, bucket uint32) int { return int(c.Bucket) - int(bucket) }); ok {
			dot += float64(x.Weight()) * float64(b[i].Weight())
		}
	}
	return dot / (float64(One.Norm(a)) * float64(One.Norm(b)))
}

func TestEmbed(t *testing.T) {
	base := Embed("boundary layer of a flat plate")
	t.Run("same words in another form", func(t *testing.T) {
		if c := cosine(base, Embed("The Boundary Layers of flat plates")); math.Abs(c-1) > 1e-6 {
			t.Errorf("cosine %v", c)
		}
	})
	t.Run("order counts a little", func(t *testing.T) {
		if c := cosine(base, Embed("plate flat layer boundary")); c > 0.99 || c < 0.8 {
			t.Errorf("cosine %v", c)
		}
	})
	t.Run("nothing in common", func(t *testing.T) {
		if c := cosine(base, Embed("tax office opening hours")); c != 0 {
			t.Errorf("cosine %v", c)
		}
	})
	t.Run("nothing at all", func(t *testing.T) {
		if v := Embed(" the of ... "); len(v) != 0 || One.Norm(v) != 0 {
			t.Errorf("vector %v", v)
		}
	})
	t.Run("frequencies saturate", func(t *testing.T) {
		v := Embed(strings.Repeat("wing ", 1000))
		if len(v) != 2 || v[0].Words+v[1].Words != 255 || v[0].Pairs+v[1].Pairs != 255 {
			t.Errorf("vector %v", v)
		}
	})
}

func TestWeights(t *testing.T) {
	if got, want := (Count{Words: 3, Pairs: 1}).Weight(), float32(1+math.Log(3)+0.3); got != want {
		t.Errorf("weight %v, want %v", got, want)
	}
	if got, want := IDF(10, 2), float32(math.Log(1+8.5/2.5)); got != want {
		t.Errorf("idf %v, want %v", got, want)
	}
	if IDF(5, 5) <= 0 {
		t.Error("a word of all texts has no weight at all")
	}
}

// TestVectorsNeverChange pins the stored form: contexts keep vectors for years, and any change of
// analysis, hashing or encoding needs another model name.
func TestVectorsNeverChange(t *testing.T) {
	text := "The boundary layer's growth on flat plates, 1958. Größe 境界層の成長 re\u0301sume\u0301. " + strings.Repeat("wing ", 300)
	encoded, err := Embed(text).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(encoded)
	if got := hex.EncodeToString(sum[:8]); got != "d1d28cdf0631a158" {
		t.Errorf("the vector's digest is %s", got)
	}
}

// TestVectorsOfTwoNeverChange pins what canopy-lexical-2 makes of several languages and of codes.
func TestVectorsOfTwoNeverChange(t *testing.T) {
	text := "The boundary layer's growth, 1958. Größe 境界層の成長 re\u0301sume\u0301 VX2291-B maxRetryCount ISO 9001. " + strings.Repeat("wing ", 300)
	h := sha256.New()
	for _, text := range []string{text, "Die Wärmepumpen werden von einem Techniker gewartet.", "Насосы обслуживаются каждые полгода.", "تتم صيانة المضخات"} {
		for _, c := range Two.Embed(text) {
			h.Write([]byte{byte(c.Bucket >> 24), byte(c.Bucket >> 16), byte(c.Bucket >> 8), byte(c.Bucket), c.Words, c.Pairs})
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != "c85c66a6e2aa43bc" {
		t.Errorf("the vectors' digest is %s", got)
	}
}

// TestLanguagesAreTold by the words that hold a sentence together.
func TestLanguagesAreTold(t *testing.T) {
	for text, want := range map[string]*tongue{
		"What does the pump cost?": inEnglish, "boundary layer": inEnglish, "": inEnglish,
		"Wie oft wird die Pumpe gewartet?": latin[0], "Quand la facture est-elle à payer ?": latin[1],
		"¿Cuándo se paga la factura?": latin[2], "Насосы": inRussian, "صيانة المضخات": inArabic,
	} {
		if featuresOf(nil, text).tongue != want {
			t.Errorf("%q is taken for another language", text)
		}
	}
}

func TestEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		buckets := rapid.MapOf(rapid.Uint32Range(0, Buckets-1), rapid.Uint16Range(1, math.MaxUint16)).Draw(t, "buckets")
		var v Vector
		for b, n := range buckets {
			v = append(v, Count{Bucket: b, Words: uint8(n >> 8), Pairs: uint8(n)})
		}
		slices.SortFunc(v, func(a, b Count) int { return int(a.Bucket) - int(b.Bucket) })
		encoded, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Vector
		if err := got.UnmarshalBinary(encoded); err != nil || !slices.Equal(got, v) {
			t.Fatalf("%v became %v, %v", v, got, err)
		}
	})
}

func TestEncodingIsCompact(t *testing.T) {
	var text strings.Builder
	for i := range 700 {
		text.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26)) + "x ")
	}
	v := Embed(text.String())
	encoded, _ := v.MarshalBinary()
	if perCount := float64(len(encoded)) / float64(len(v)); perCount > 2.1 {
		t.Errorf("%.2f bytes a count", perCount)
	}
}

func TestForeignBytesAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":         {},
		"version":         {9},
		"open distance":   {1, 0x80},
		"no counts":       {1, 2},
		"one count":       {1, 2, 1},
		"zero counts":     {1, 2, 0, 0},
		"unknown shape":   {1, 3},
		"bucket twice":    {1, 4, 0},
		"beyond the last": {1, 0x80, 0x80, 0x80, 0x80, 0x01},
		"overflow":        {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			v := Vector{{Bucket: 1, Words: 1}}
			if err := v.UnmarshalBinary(b); !errors.Is(err, ErrEncoding) || len(v) != 1 {
				t.Errorf("error %v, vector %v", err, v)
			}
		})
	}
}

func FuzzUnmarshal(f *testing.F) {
	seed, _ := Embed("boundary layer layer").MarshalBinary()
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		var v, again Vector
		if v.UnmarshalBinary(b) != nil {
			return
		}
		encoded, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(encoded); err != nil || !slices.Equal(v, again) {
			t.Fatalf("%v became %v, %v", v, again, err)
		}
	})
}

func FuzzEmbed(f *testing.F) {
	f.Add("The boundary layer's growth 境界層 ﬁ\u0301")
	f.Fuzz(func(t *testing.T, text string) {
		v := Embed(text)
		if !slices.Equal(v, Embed(text)) {
			t.Fatal("two vectors of one text")
		}
		for i, c := range v {
			if c.Bucket >= Buckets || i > 0 && v[i-1].Bucket >= c.Bucket || c.Words == 0 && c.Pairs == 0 {
				t.Fatalf("count %d: %+v", i, c)
			}
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	text := strings.Repeat("An experimental study of a wing in a propeller slipstream was made to determine the spanwise distribution of the lift increase. ", 40)
	for _, model := range models {
		b.Run(model.Name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				model.Embed(text)
			}
		})
	}
}

func FuzzEmbedTwo(f *testing.F) {
	f.Add("Die Wärmepumpen ISO 9001 maxRetryCount 境界層")
	f.Add("تتم صيانة المضخات ـًى")
	f.Add("ve bir bu da için İstanbul'da ıſ")
	f.Fuzz(func(t *testing.T, text string) {
		v := Two.Embed(text)
		if !slices.Equal(v, Two.Embed(text)) {
			t.Fatal("two vectors of one text")
		}
		for i, c := range v {
			if i > 0 && v[i-1].Bucket >= c.Bucket || c.Words == 0 {
				t.Fatalf("count %d: %+v", i, c)
			}
		}
	})
}
