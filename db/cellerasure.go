package db

import (
	"context"
	"slices"

	"canopy/internal/access"
)

// What is erased goes in two steps where companies have cells: a cell erases what it has, and tells the home; then the home erases the rest. Whoever applies what is replicated
// looks at no references, so that rows of a company that the home had erased first would be left in the cell for ever.

// notInCells holds for a company c that no cell has anything of, or below.
const notInCells = `NOT EXISTS (
			SELECT FROM cells z WHERE NOT EXISTS (SELECT FROM cell_erasures e WHERE e.customer_id = c.id AND e.region_id = z.region_id)
				AND EXISTS (SELECT FROM customers k WHERE k.region_id = z.region_id AND k.lineage >= c.lineage AND k.lineage < c.lineage[1:c.level] || (c.id + 1)))`

var (
	// Due is what can't be restored any more by the clock of the home, as the pulse that has come with the rest of the directory tells it; a restoration takes less than a minute.
	qDueInCell = prepare(`
		SELECT c.id FROM pulse p JOIN customers c ON c.status = 'DELETED' AND c.erase_at <= p.counted_at - interval '1 minute' WHERE NOT EXISTS (
			SELECT FROM customers d WHERE d.id = ANY (c.lineage[1:c.level]) AND d.status = 'DELETED' AND d.erase_at <= p.counted_at - interval '1 minute')
		ORDER BY c.lineage LIMIT $1`)
	qCompaniesBelow = prepare(`
		SELECT c.id, c.lineage FROM (SELECT id, lineage, level FROM customers WHERE id = $1 OFFSET 0) p CROSS JOIN LATERAL (
			SELECT id, lineage FROM customers c WHERE c.lineage >= p.lineage AND c.lineage < p.lineage[1:p.level] || (p.id + 1) AND c.lineage > $2::bigint[]
			ORDER BY c.lineage LIMIT $3) c`)

	qEraseHeldSecrets    = prepare(`DELETE FROM secrets WHERE customer_id = ANY ($1::bigint[])`)
	qEraseRemovedSecrets = prepare(`DELETE FROM removed_secrets WHERE customer_id = ANY ($1::bigint[])`)
	qEraseExports        = prepare(`DELETE FROM customer_exports WHERE customer_id = ANY ($1::bigint[])`)
	qEraseNotices        = prepare(`DELETE FROM limit_notices WHERE customer_id = ANY ($1::bigint[])`)
	qEraseHolds          = prepare(`DELETE FROM delivery_holds WHERE customer_id = ANY ($1::bigint[])`)
	qEraseCounts         = prepare(`DELETE FROM usage_counts WHERE customer_id = ANY ($1::bigint[])`)

	qErasedPeople = prepare(`SELECT user_id FROM erased_people ORDER BY user_id LIMIT $1`)
	qForgetErased = prepare(`DELETE FROM erased_people WHERE user_id = $1`)
)

// DueInCell are deleted companies whose time is over, as a cell knows it.
func (s *Store) DueInCell(ctx context.Context) (ids []int64, err error) {
	err = s.list(ctx, &ids, qDueInCell, eraseCompanies)
	return ids, err
}

// EraseInCell erases all that a cell has of a deleted company, and of those below it. Doing it again finds nothing.
func (s *Store) EraseInCell(ctx context.Context, id int64) error {
	last := access.Lineage{}
	for {
		var below []struct {
			ID      int64          `db:"id"`
			Lineage access.Lineage `db:"lineage"`
		}
		if err := s.list(ctx, &below, qCompaniesBelow, id, last, eraseCompanies); err != nil || len(below) == 0 {
			return err
		}
		companies := make([]int64, len(below))
		for i, c := range below {
			companies[i], last = c.ID, c.Lineage
		}
		for more := true; more; {
			err := s.withoutTimeout(ctx, func(tx *Store) (err error) {
				more, err = tx.eraseHeld(ctx, companies)
				return err
			})
			if err != nil {
				return err
			}
		}
		// What was erased has been counted down, until here.
		if _, err := s.exec(ctx, qEraseCounts, companies); err != nil {
			return err
		}
	}
}

// eraseHeld erases some of what companies have in a cell; more tells that there may be more of it.
func (s *Store) eraseHeld(ctx context.Context, companies []int64) (more bool, err error) {
	for _, step := range eraseSteps {
		if step.directory {
			continue
		}
		if n, err := s.exec(ctx, step.query, companies, step.rows); err != nil || n >= step.rows {
			return true, err
		}
	}
	for _, q := range []query{qEraseHeldSecrets, qEraseRemovedSecrets, qEraseExports, qEraseNotices, qEraseHolds} {
		if _, err := s.exec(ctx, q, companies); err != nil {
			return false, err
		}
	}
	return false, nil
}

// EraseTraces takes away what a cell has of some people who were erased at the home, and tells how many those were.
func (s *Store) EraseTraces(ctx context.Context, most int) (n int, err error) {
	var people []int64
	if err := s.list(ctx, &people, qErasedPeople, most); err != nil {
		return 0, err
	}
	for _, id := range people {
		err := s.withoutTimeout(ctx, func(tx *Store) error {
			for _, q := range slices.Concat(tracesOf, []query{qDropKeptOf, qForgetErased}) {
				if _, err := tx.exec(ctx, q, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return len(people), nil
}
