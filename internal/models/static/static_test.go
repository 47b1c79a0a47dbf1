package static

import (
	"context"
	"errors"
	"math"
	"testing"

	"canopy/internal/models/embed"
)

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func embedded(t *testing.T, texts ...string) [][]float32 {
	t.Helper()
	list, err := New().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestLikeMeaningsAreNear(t *testing.T) {
	v := embedded(t, "the physician saw a patient", "the doctor treated the sick man", "the harbour has two cranes", "PHYSICIAN", "physician", "café", "cafe")
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("the cosine of like meanings is %.2f, and of others %.2f", near, far)
	}
	for _, i := range []int{3, 5} {
		if same := cosine(v[i], v[i+1]); same < 0.999 {
			t.Errorf("case or accents count: %.3f", same)
		}
	}
}

// TestUnknownWordsAreLikeNothing: what has no known word has a vector that is like no other, and not one of no numbers.
func TestUnknownWordsAreLikeNothing(t *testing.T) {
	for i, v := range embedded(t, "", " \n", "…", "xqzvbn", "文書の検索", "12 345", "\xff\xfe", "the physician") {
		length := cosine(v, v)
		if want := float64(i / 7); math.Abs(length-want) > 1e-5 || len(v) != Dimensions {
			t.Errorf("text %d has a vector of length %.3f", i, length)
		}
	}
}

func TestEachTextIsHandedOverOnce(t *testing.T) {
	texts := make([]string, 2*batch+1)
	for i := range texts {
		texts[i] = "text"
	}
	next := 0
	err := New().Batches(t.Context(), texts, func(first int, vectors [][]float32) error {
		if first != next {
			t.Errorf("a batch begins at %d, and not at %d", first, next)
		}
		next += len(vectors)
		return nil
	})
	if err != nil || next != len(texts) {
		t.Errorf("%d of %d texts: %v", next, len(texts), err)
	}
}

func TestBatchesEnd(t *testing.T) {
	texts := make([]string, 2*batch)
	wrong := errors.New("wrong")
	var partial *embed.PartialError
	err := New().Batches(t.Context(), texts, func(first int, _ [][]float32) error {
		if first > 0 {
			return wrong
		}
		return nil
	})
	if !errors.As(err, &partial) || !errors.Is(err, wrong) || partial.Done != batch || partial.Total != len(texts) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err = New().Batches(ctx, texts, func(int, [][]float32) error { return nil }); !errors.Is(err, context.Canceled) || !errors.As(err, &partial) || partial.Done != 0 {
		t.Errorf("%v", err)
	}
}

func TestPackedIsRead(t *testing.T) {
	var p Packer
	values := make([]int8, Dimensions)
	for i, w := range []string{"a", "be", "bee", "zoo"} {
		values[0] = int8(-i)
		p.Add(w, 0.5, values)
	}
	table := unpack(string(p.Bytes()))
	for w, want := range map[string]float32{"a": 0, "be": -0.5, "bee": -1, "zoo": -1.5, "b": 0, "": 0, "zz": 0} {
		sum := make([]float32, Dimensions)
		if table.add(sum, w); sum[0] != want {
			t.Errorf("%q: %v, and not %v", w, sum[0], want)
		}
	}
}

func BenchmarkEmbed(b *testing.B) {
	m := New()
	const text = "The physician examines newborns again after four weeks, and tells the parents what to look for in the meantime."
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.vector(text)
	}
}
