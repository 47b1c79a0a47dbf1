package db

import (
	"context"
	"strconv"
	"sync"

	"canopy/internal/access"
)

// maxBranches is how many companies branches knows at most.
const maxBranches = 100_000

// branches remembers the branches of companies whose callers have come, so that callers take turns already while they are looked up. That of a
// company that was moved since is no harm: it is only about whose turn it is.
type branches struct {
	mu sync.Mutex
	of map[int64]int64
}

// ForCompany is the context in which a company's caller is looked up, in the turn of its branch, or, as long as that is not known, of the company.
func (s *Store) ForCompany(ctx context.Context, id int64) context.Context {
	s.branches.mu.Lock()
	defer s.branches.mu.Unlock()
	if branch := s.branches.of[id]; branch != 0 {
		return access.WithBranch(ctx, branch)
	}
	return access.WithTurn(ctx, "company "+strconv.FormatInt(id, 10))
}

// KnowBranch remembers the branch of a company.
func (s *Store) KnowBranch(id, branch int64) {
	s.branches.mu.Lock()
	defer s.branches.mu.Unlock()
	if s.branches.of == nil || len(s.branches.of) >= maxBranches {
		s.branches.of = map[int64]int64{}
	}
	s.branches.of[id] = branch
}
