package db

import "context"

var (
	qHoldPlaces = prepare(`SELECT FROM (SELECT hold_places($1)) held`)
	qHoldAlone  = prepare(`SELECT FROM (SELECT hold_places($1, true)) held`)
	qDeepest    = prepare(`
		SELECT max(c.level) FROM customers t JOIN customers c ON c.lineage >= t.lineage AND c.lineage < t.lineage[1:t.level] || (t.id + 1) WHERE t.id = $1`)
	qMoveCustomer = prepare(`SELECT FROM (SELECT move_customer($1, $2)) moved`)
)

// HoldPlaces keeps companies where they are until the transaction ends: what is read of them afterwards stays so. Others may
// hold them, too. It comes before all rows that the transaction holds.
func (s *Store) HoldPlaces(ctx context.Context, ids ...int64) error {
	_, err := s.exec(ctx, qHoldPlaces, ids)
	return err
}

// HoldAlone is HoldPlaces for a transaction that moves one of the companies: nobody else holds their branches then. It waits for
// others only a moment, and so does all that the transaction does afterwards: ErrBusy, which is worth another try.
func (s *Store) HoldAlone(ctx context.Context, ids ...int64) error {
	_, err := s.exec(ctx, qHoldAlone, ids)
	return err
}

// DeepestBelow is the level of the deepest company below one, and its own where there is none.
func (s *Store) DeepestBelow(ctx context.Context, id int64) (level int, err error) {
	err = s.get(ctx, &level, qDeepest, id)
	return level, err
}

// MoveCustomer puts a company, with everything below it, below another that is not among these: both by HoldAlone.
// *LimitReached: a company above, or it itself, would have more than it may.
func (s *Store) MoveCustomer(ctx context.Context, id, parentID int64) error {
	_, err := s.exec(ctx, qMoveCustomer, id, parentID)
	return err
}
