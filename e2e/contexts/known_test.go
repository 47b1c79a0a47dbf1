package contexts

import (
	"fmt"
	"math"
	"testing"

	"canopy/e2e/platform"
)

// TestSearchTakesTwoStatements: one finds the caller, the other what was found in a context that was searched before. What changes on another process
// is in the very next search: another setting, more documents and fewer, and that the context is not the caller's any more, or gone.
func TestSearchTakesTwoStatements(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	twin := s.Twin(t)
	token := s.Assistant()
	id := s.NewContext(token, "Larder")
	path := fmt.Sprintf("/context/relevant-docs/%d", id)
	search := func(want int) {
		t.Helper()
		for _, at := range []*platform.Platform{s, twin} {
			if hits := at.Must(200, "POST", path, token, object{"prompt": "honey"}).JSON(t).([]any); len(hits) != want {
				t.Errorf("%d hits, want %d: %v", len(hits), want, hits)
			}
		}
	}
	upload := func(name string) {
		t.Helper()
		s.Upload(token, id, name, []byte("Honey of "+name+" keeps for 3000 years when it is dry.\n"))
		s.Settle(token, id)
	}
	upload("spring.txt")
	search(1)
	search(1)
	fewest := int64(math.MaxInt64)
	for range 10 { // work in the background has statements, too
		fewest = min(fewest, s.Statements(func() { s.Must(200, "POST", path, token, object{"prompt": "honey"}) }))
	}
	if fewest > 2 {
		t.Errorf("%d statements, want at most 2", fewest)
	}
	upload("summer.txt")
	search(2)
	twin.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, topN: 1}) { context { topN } } }`, object{"id": id})
	search(1)
	s.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, topN: 9}) { context { topN } } }`, object{"id": id})
	search(2)
	for _, d := range s.Documents(token, id) {
		twin.MustGQL(token, `mutation($id: ID!) { deleteDocument(input: {id: $id}) { deletedId } }`, object{"id": d["id"]})
	}
	search(0)
	upload("autumn.txt")
	search(1)
	account := s.Number(`SELECT account_id FROM contexts WHERE id = $1`, id)
	for _, c := range []struct {
		account int64
		want    int
	}{{s.Number(`SELECT min(id) FROM accounts WHERE id <> $1`, account), 404}, {account, 200}} {
		s.SQL(`UPDATE contexts SET account_id = $2 WHERE id = $1`, id, c.account)
		for _, at := range []*platform.Platform{s, twin} {
			at.Must(c.want, "POST", path, token, object{"prompt": "honey"})
		}
	}
	twin.MustGQL(token, `mutation($id: ID!) { deleteContext(input: {id: $id}) { deletedId } }`, object{"id": id})
	for _, at := range []*platform.Platform{s, twin} {
		at.Must(404, "POST", path, token, object{"prompt": "honey"})
	}
}
