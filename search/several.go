package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"canopy/db"
	"canopy/internal/models/lexical"
	"canopy/internal/models/static"
	"canopy/internal/vector"
)

// MaxContexts bounds the contexts of one search.
const MaxContexts = 20

// FindAmong is Find in several contexts of an account at once, as if the chunks of all were in one. Where a query does not say,
// each context's threshold bounds its own hits, and the largest topN is that of all; see commonMode for what is compared. The prompt is embedded once, and neither
// hits nor contexts make more statements, once the indexes are in memory.
func (e *Engine) FindAmong(ctx context.Context, rows []*db.Context, q Query) ([]*Hit, error) {
	s := &several{Engine: e, rows: rows, mode: q.commonMode(rows), sought: &sought{text: q.Prompt}, judges: make([]*judge, len(rows)), place: map[int64]int{}}
	if err := s.prepare(ctx, q); err != nil {
		return nil, err
	}
	if err := s.weigh(ctx); err != nil {
		return nil, err
	}
	rank := s.apart
	if s.mode == Hybrid && slices.ContainsFunc(rows, func(row *db.Context) bool { return !embedded(row.EmbeddingModel) }) {
		rank = s.together
	}
	hits, err := rank(ctx)
	if err != nil || len(hits) == 0 {
		return []*Hit{}, err
	}
	of := func(chunk int64) found { return found{rows[s.place[chunk]], s.judges[s.place[chunk]]} }
	list, err := e.read(ctx, q, hits, of, e.chunksOf(s.ids()...))
	if err != nil {
		return nil, err
	}
	return e.rerank(ctx, q, list, s.wanted), nil
}

// several is one search of several contexts.
type several struct {
	*Engine
	rows    []*db.Context
	filters []vector.Filter
	mode    Mode
	sought  *sought
	judges  []*judge // of each context's hits
	top     int      // that are looked for
	wanted  int
	// place tells which of the contexts a found chunk is of.
	place map[int64]int
}

func (s *several) ids() []int64 {
	ids := make([]int64, len(s.rows))
	for i, row := range s.rows {
		ids[i] = row.ID
	}
	return ids
}

// commonMode is what a search of several contexts compares: what all of them do by themselves, and everything where they differ.
func (q Query) commonMode(rows []*db.Context) Mode {
	mode := q.mode(rows[0])
	for _, row := range rows {
		if q.mode(row) != mode {
			return Hybrid
		}
	}
	return mode
}

// prepare completes the query with the settings of each context, and resolves its filter on attributes.
func (s *several) prepare(ctx context.Context, q Query) (err error) {
	var predicate string
	s.filters = make([]vector.Filter, len(s.rows))
	for i, row := range s.rows {
		if s.filters[i], predicate, err = q.filter(row); err != nil {
			return err
		}
		s.wanted = max(s.wanted, s.filters[i].Top)
	}
	s.top = s.candidates(s.wanted)
	for i := range s.filters {
		s.filters[i].Top = s.candidates(s.filters[i].Top)
	}
	if predicate == "" {
		return nil
	}
	all := s.filters[0] // the documents that count are the same in each
	if err := s.fit(ctx, s.ids(), predicate, &all); err != nil {
		return err
	}
	for i := range s.filters {
		s.filters[i].Documents = all.Documents
	}
	return nil
}

// weigh has words count the more the fewer chunks of all the contexts have them whose words are compared by the same model: by its own chunks alone, a
// context in which a word is rare would come before one in which more of the question stands.
func (s *several) weigh(ctx context.Context) error {
	s.sought.asked = make(map[int64]*vector.Asked, len(s.rows))
	ids, indexes := map[*lexical.Model][]int64{}, map[*lexical.Model][]*vector.Sparse{}
	for _, row := range s.rows {
		if s.mode == Semantic && !embedded(row.EmbeddingModel) {
			continue // no words are compared
		}
		x, err := s.wordsFor(ctx, row, s.sought.text)
		if err != nil {
			return err
		}
		model := lexical.For(row.EmbeddingModel)
		ids[model], indexes[model] = append(ids[model], row.ID), append(indexes[model], x)
	}
	for model, list := range indexes {
		asked, err := scan(ctx, s.Engine, func() ([]*vector.Asked, error) { return vector.AskTexts(list, s.sought.text), nil })
		if err != nil {
			return err
		}
		for i, id := range ids[model] {
			s.sought.asked[id] = asked[i]
		}
	}
	return nil
}

// apart ranks the contexts one by one. Likenesses by one model compare. By another they may be larger throughout: where the
// contexts have several models, hits are ordered by their part of the greatest likeness that their own model has found.
func (s *several) apart(ctx context.Context) ([]vector.Hit, error) {
	greatest := map[string]float32{}
	var all []vector.Hit
	for i, row := range s.rows {
		hits, judge, err := s.rank(ctx, row, s.sought, s.mode, s.filters[i])
		if err != nil {
			return nil, err
		}
		s.judges[i] = judge
		for _, h := range hits {
			s.place[h.Chunk] = i
			greatest[s.model(i)] = max(greatest[s.model(i)], h.Similarity)
		}
		all = append(all, hits...)
	}
	part := func(h vector.Hit) float32 {
		if most := greatest[s.model(s.place[h.Chunk])]; len(greatest) > 1 && most > 0 {
			return h.Similarity / most
		}
		return h.Similarity
	}
	slices.SortFunc(all, func(a, b vector.Hit) int {
		return cmp.Or(cmp.Compare(part(b), part(a)), cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Chunk, b.Chunk))
	})
	return all[:min(s.top, len(all))], nil
}

// model is what a context's chunks are compared by.
func (s *several) model(i int) string {
	if s.mode == Lexical {
		return lexical.For(s.rows[i].EmbeddingModel).Name
	}
	return s.rows[i].EmbeddingModel
}

// arms gives all that a context's model finds and all that words find. What the embedded models of both find counts as the latter.
func (s *several) arms(ctx context.Context, i int) (dense *vector.Compared, words []vector.Hit, err error) {
	row, f := s.rows[i], s.filters[i]
	if row.EmbeddingModel != static.Name {
		dense, words, s.judges[i], err = s.both(ctx, row, s.sought, f)
		return dense, words, err
	}
	f.MinScore, f.Top = 0, math.MaxInt
	words, s.judges[i], err = s.rankBlend(ctx, row, s.sought, f)
	return nil, words, err
}

// together fuses what all contexts have, so that the best chunk of a context in which little fits is not as good as the best of all.
func (s *several) together(ctx context.Context) ([]vector.Hit, error) {
	var dense []*vector.Compared
	var words []vector.Hit
	for i, row := range s.rows {
		if err := s.need(row.EmbeddingModel); err != nil {
			return nil, err
		}
		d, w, err := s.arms(ctx, i)
		if err != nil {
			return nil, err
		}
		for chunk := range d.Chunks() {
			s.place[chunk] = i
		}
		for _, h := range w {
			s.place[h.Chunk] = i
		}
		dense, words = append(dense, d), append(words, w...)
	}
	all := s.filters[0]
	all.Top = s.top
	of := func(chunk int64) (weight, least float32) {
		i := s.place[chunk]
		return float32(s.rows[i].DenseWeight), s.filters[i].MinScore
	}
	return scan(ctx, s.Engine, func() ([]vector.Hit, error) { return vector.FuseAmong(all, of, vector.Together(dense), words), nil })
}
