package db

import "context"

// release ends the lease of rows that could not be handed on: they are due again. of gives a row's id,
// and the count by which the statement sees that it was taken up meanwhile, and is to be left alone.
func release[T any](ctx context.Context, s *Store, q query, due []T, of func(T) (id int64, count int)) error {
	ids, counts := make([]int64, len(due)), make([]int64, len(due))
	for i, d := range due {
		id, count := of(d)
		ids[i], counts[i] = id, int64(count)
	}
	_, err := s.exec(ctx, q, ids, counts)
	return err
}
