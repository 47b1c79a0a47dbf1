package main

import (
	"fmt"
	"time"

	"canopy/internal/access"
)

const moving = "move the first branch of ten, with its users"

// moved measures how long it takes to move the first of ten branches, with its users, below the one beside it: it has what the last level has
// begun with, 100,001 of 200,000 companies.
func (b *bencher) moved(size string, top int64) (row, error) {
	begin := time.Now()
	err := b.as(access.Tenant, b.lab.platform).Call(b.ctx, "POST", fmt.Sprintf("/tenant/customer/%d/move", top+1), map[string]any{"parentId": top + 2}, nil)
	return row{
		name: size + moving, wanted: "< 5 s", figure: fmt.Sprintf("%.1f s", time.Since(begin).Seconds()),
	}, err
}
