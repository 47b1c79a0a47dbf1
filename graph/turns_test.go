package graph

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/access"
	"canopy/internal/share"
)

// costing is the context of an operation of a branch.
func costing(ctx context.Context, branch int64, kind ast.Operation, cost int) context.Context {
	oc := &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: kind}}
	oc.Stats.SetExtension(costExtension, &CostReport{Requested: cost})
	p := &access.Principal{KeyID: 9, Lineage: access.Lineage{1, branch}}
	return graphql.WithOperationContext(access.WithPrincipal(ctx, p), oc)
}

// TestHeavyOperationsTakeTurns: however many a branch asks for, and whatever they are, those of another are executed at
// once, and so is everything that costs little.
func TestHeavyOperationsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, end := newTurns(), make(chan struct{})
		var asked sync.WaitGroup
		ask := func(running *atomic.Int64, branch int64, kind ast.Operation, cost int) {
			asked.Go(func() {
				turns.InterceptResponse(costing(t.Context(), branch, kind, cost), func(context.Context) *graphql.Response {
					running.Add(1)
					<-end
					return nil
				})
			})
		}
		var hostile, quiet, light atomic.Int64
		for i := range 200 {
			ask(&hostile, 7, []ast.Operation{ast.Query, ast.Mutation}[i%2], heavyCost+1)
		}
		synctest.Wait()
		alone := hostile.Load()
		if alone < 2 || alone > 100 {
			t.Errorf("%d of one branch are executed at the same time", alone)
		}
		ask(&quiet, 8, ast.Query, heavyCost+1)
		ask(&light, 7, ast.Query, heavyCost)
		ask(&light, 7, ast.Subscription, 50_000)
		synctest.Wait()
		if quiet.Load() != 1 || light.Load() != 2 || hostile.Load() != alone {
			t.Errorf("beside them %d of another branch, %d light ones and %d more", quiet.Load(), light.Load(), hostile.Load()-alone)
		}
		close(end)
		asked.Wait()
		if hostile.Load() != 200 {
			t.Errorf("%d came to their turn", hostile.Load())
		}
	})
}

// TestHeavyOperationsWaitNoLongerThanTheirClients: who hangs up while waiting takes no turn.
func TestHeavyOperationsWaitNoLongerThanTheirClients(t *testing.T) {
	turns := newTurns()
	for turns.places.TryEnter(7) {
	}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	resp := turns.InterceptResponse(costing(gone, 7, ast.Query, heavyCost+1), func(context.Context) *graphql.Response {
		t.Error("it is executed")
		return nil
	})
	if resp == nil || len(resp.Errors) != 1 {
		t.Errorf("answered %+v", resp)
	}
}

// TestWhoWaitsForAnotherCellTakesNoTurn: as many as there are may wait for a cell that hangs.
func TestWhoWaitsForAnotherCellTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, end := newTurns(), make(chan struct{})
		var asked sync.WaitGroup
		var waiting atomic.Int64
		for range 200 {
			asked.Go(func() {
				turns.InterceptResponse(costing(t.Context(), 7, ast.Query, heavyCost+1), func(ctx context.Context) *graphql.Response {
					share.LetGo(ctx)
					share.LetGo(ctx)
					waiting.Add(1)
					<-end
					return nil
				})
			})
		}
		synctest.Wait()
		if waiting.Load() != 200 || turns.places.Busy() {
			t.Errorf("%d wait for a cell, and have places of others: %t", waiting.Load(), turns.places.Busy())
		}
		close(end)
		asked.Wait()
	})
}
