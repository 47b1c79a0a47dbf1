package search

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/models/lexical"
	"canopy/internal/paging"
	"canopy/internal/vector"
)

func TestMain(m *testing.M) { devtest.Main(m) }

// TestIndexLoadsKeepNobodyWaiting: however many indexes of one branch are being loaded, one of another is
// loaded beside them.
func TestIndexLoadsKeepNobodyWaiting(t *testing.T) {
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), devtest.Database(t, db.Fingerprint(), db.Migrate), db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	greedy, quiet := accounts(t, s)
	e := New(s, Models{}, vector.NewCache(1<<20, time.Minute))
	load := func(id, account int64, from func() (*vector.Sparse, int64, error)) error {
		_, err := index(t.Context(), e, &db.Context{ID: id, AccountID: account, Searched: 1}, vector.Key{Context: id, Model: lexical.One.Name, Kind: vector.KindSparse},
			func(context.Context, *vector.Sparse, int64, *vector.Room) (*vector.Sparse, int64, error) {
				return from()
			})
		return err
	}
	empty := vector.NewSparseBuilder(lexical.One, nil).Build()
	begun, end, ended := make(chan struct{}, 2*loadPlaces), make(chan struct{}), make(chan error, 2*loadPlaces)
	for i := range 2 * loadPlaces {
		go func() {
			ended <- load(int64(i+1), greedy, func() (*vector.Sparse, int64, error) {
				begun <- struct{}{}
				<-end
				return empty, 1, nil
			})
		}()
	}
	for range loadPlaces / 2 {
		<-begun
	}
	devtest.Check(t, load(100, quiet, func() (*vector.Sparse, int64, error) { return empty, 1, nil }))
	if n := len(begun); n > 0 {
		t.Errorf("%d loads more than half of the places were begun", n)
	}
	close(end)
	for range 2 * loadPlaces {
		devtest.Check(t, <-ended)
	}
}

// TestLoadingGivesMemoryBack: of an index that is too large to keep nothing is left a little later.
func TestLoadingGivesMemoryBack(t *testing.T) {
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), devtest.Database(t, db.Fingerprint(), db.Migrate), db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	account, _ := accounts(t, s)
	e := New(s, Models{}, vector.NewCache(1<<20, time.Minute))
	held := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapSys - m.HeapReleased)
	}
	debug.FreeOSMemory()
	before := held()
	const chunks, dimensions = 16_000, 1000 // 61 MiB
	_, err := index(t.Context(), e, &db.Context{ID: 1, AccountID: account, Searched: 1}, vector.Key{Context: 1, Model: "m", Kind: vector.KindDense},
		func(context.Context, *vector.Dense, int64, *vector.Room) (*vector.Dense, int64, error) {
			b := devtest.Must[*vector.DenseBuilder](t)(vector.NewDenseBuilder(dimensions, nil))
			v := make([]float32, dimensions)
			for i := range chunks {
				v[0] = 1
				devtest.Check(t, b.Add(vector.DenseRow{Chunk: int64(i), Document: 1, Vector: v}))
			}
			return b.Build(), 1, nil
		})
	devtest.Check(t, err)
	if more := held() - before; more < 50<<20 {
		t.Fatalf("an index of 61 MiB takes %d MiB", more>>20)
	}
	for end := time.Now().Add(time.Minute); held()-before > 16<<20; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d MiB are kept", (held()-before)>>20)
		}
	}
}

// TestSearchesKeepNobodyWaiting: however many searches one branch has under way, that of another goes ahead.
func TestSearchesKeepNobodyWaiting(t *testing.T) {
	e := New(nil, Models{}, vector.NewCache(0, time.Minute))
	of := func(branch int64) context.Context {
		return access.WithPrincipal(t.Context(), &access.Principal{Lineage: access.Lineage{1, branch}})
	}
	begun, end, ended := make(chan struct{}, 2*scanPlaces), make(chan struct{}), make(chan error, 2*scanPlaces)
	for range 2 * scanPlaces {
		go func() {
			_, err := scan(of(7), e, func() ([]vector.Hit, error) {
				begun <- struct{}{}
				<-end
				return nil, nil
			})
			ended <- err
		}()
	}
	for range scanPlaces / 2 {
		<-begun
	}
	_, err := scan(of(8), e, func() ([]vector.Hit, error) { return nil, nil })
	devtest.Check(t, err)
	if n := len(begun); n > 0 {
		t.Errorf("%d more than half of the places were taken", n)
	}
	close(end)
	for range 2 * scanPlaces {
		devtest.Check(t, <-ended)
	}
}

// TestHitsAreLookedThroughInTurn: what a caller, or a run, of a branch has found is looked through in one of its places, as that is work, too.
func TestHitsAreLookedThroughInTurn(t *testing.T) {
	for name, ctx := range map[string]context.Context{
		"a caller": access.WithPrincipal(t.Context(), &access.Principal{Lineage: access.Lineage{1, 7}}),
		"a run":    access.WithBranch(t.Context(), 7),
	} {
		t.Run(name, func(t *testing.T) {
			e := New(nil, Models{}, vector.NewCache(0, time.Minute))
			left := -1
			list, err := e.tell(ctx, Query{Prompt: "honey"}, []vector.Hit{{Chunk: 5, Similarity: 1}}, map[int64]*db.Chunk{5: {ID: 5, Content: "Honey keeps."}}, func(int64) found {
				for left = 0; e.scans.TryEnter(7); left++ {
				}
				return found{&db.Context{}, &judge{odds: byMeanings}}
			})
			devtest.Check(t, err)
			if len(list) != 1 || left != scanPlaces/2-1 {
				t.Errorf("%d hits, beside which %d places were left of %d", len(list), left, scanPlaces/2)
			}
		})
	}
}

// accounts makes an account in each of two branches.
func accounts(t *testing.T, s *db.Store) (a, b int64) {
	t.Helper()
	ctx := t.Context()
	region := devtest.Must[int64](t)(s.PutRegion(ctx, db.Region{Code: "eu", Name: "Europe"}))
	devtest.Check(t, s.PutApplication(ctx, db.Application{ID: 1, Code: access.Assistant.String(), Name: "Assistant"}))
	devtest.Check(t, s.PutInstance(ctx, 1, region, "https://assistant.example", true))
	devtest.Check(t, s.PutSystemRole(ctx, db.Role{ApplicationID: 1, Name: "Owner", IsOwner: true, Features: []string{}}))
	instance := devtest.Must[map[string]int64](t)(s.InstancesIn(ctx, region))[access.Assistant.String()]
	user, err := s.EnsureUser(ctx, db.Given{Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace"})
	devtest.Check(t, err)
	root := devtest.Must[*db.Customer](t)(s.InsertCustomer(ctx, db.Customer{Name: "Root", RegionID: region}))
	open := func(name string) int64 {
		t.Helper()
		c := devtest.Must[*db.Customer](t)(s.InsertCustomer(ctx, db.Customer{ParentID: &root.ID, Name: name, RegionID: region}))
		devtest.Check(t, s.OpenAccounts(ctx, c, []int64{instance}, user.ID, "Owner", 0))
		return devtest.Must[[]*db.Account](t)(c.Accounts(ctx, s, db.NewAsk(db.Where{}, "", paging.NewPage(1, paging.Cursor{}))))[0].ID
	}
	return open("Greedy"), open("Quiet")
}
