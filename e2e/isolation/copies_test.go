package isolation

import (
	"context"
	"encoding/binary"
	"math"
	"net/http"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/models/static"
	"canopy/rest"
)

// TestCopiesIsolate asks for all that searches, at both doors and as every caller, where the vectors of each context are copied to a database of vectors and
// are found there. All contexts lie there side by side, with the same vectors.
func TestCopiesIsolate(t *testing.T) {
	t.Parallel()
	url := devtest.VectorDatabase(t)
	w := newWorld(t, func(c *config.Config) { c.VectorURL, c.VectorChunks = url, 1 })
	w.copies = true
	m := newMatrix(t, w)
	searches := func(name string) bool {
		return strings.Contains(name, "searchContext") || strings.Contains(name, "askContext")
	}
	rows := 0
	for _, row := range graphRows() {
		if searches(row.fields) {
			rows++
			t.Run(row.fields, func(t *testing.T) {
				m.row(t, w.answers(row.want, row.rules(), row.assistant), row.sender(), row.writes())
			})
		}
	}
	operations := map[string]restRow{}
	for _, row := range restRows() {
		operations[row.op] = row
	}
	_, registry := rest.New(w.App.Resolver, rest.Options{})
	for _, e := range rest.Endpoints(registry) {
		if row := operations[e.OperationID]; searches(row.op) {
			rows++
			t.Run(row.op, func(t *testing.T) {
				m.row(t, w.answers(row.want, row.rules(e), row.assistant), row.sender(e), e.Method != http.MethodGet)
			})
		}
	}
	if rows < 5 {
		t.Errorf("%d rows search", rows)
	}
	if compared, copied := w.App.Resolver.Search.Answers(); compared > 0 || copied < int64(rows) {
		t.Errorf("%d searches were answered by the copies, %d without, of %d rows", copied, compared, rows)
	}
	w.quiet(t)
}

// copyVectors gives a chunk a vector by the embedded model of meanings, and has those of its context copied.
func (a *ask) copyVectors(chunk, document, inContext int64, text string) {
	vectors, err := static.New().Embed(a.ctx, []string{text})
	a.ok(err)
	var dense []byte
	for _, f := range vectors[0] {
		dense = binary.LittleEndian.AppendUint32(dense, math.Float32bits(f))
	}
	a.SQL(`UPDATE chunks SET dense = $2 WHERE id = $1`, chunk, dense)
	a.SQL(`UPDATE documents SET model = $2 WHERE id = $1`, document, static.Name)
	a.SQL(`UPDATE contexts SET embedding_model = $2, dimensions = $3, version = version + 1 WHERE id = $1`, inContext, static.Name, static.Dimensions)
	a.SQL(`UPDATE context_sizes SET size = 1000000 WHERE context_id = $1`, inContext)
	for _, do := range []func(context.Context) error{a.App.Resolver.Search.FindLarge, a.App.Resolver.Search.FollowCopies} {
		platform.Turn(a.T, do)
		a.App.Resolver.Search.AwaitCopies(a.ctx)
	}
}
