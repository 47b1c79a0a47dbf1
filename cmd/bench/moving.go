package main

import (
	"fmt"
	"time"

	"canopy/internal/access"
)

// moved measures how long it takes to move a tenth of all companies, with their users, below the one beside them.
func (b *bencher) moved(size string, top int64) (row, error) {
	begin := time.Now()
	err := b.as(access.Tenant, b.lab.platform).Call(b.ctx, "POST", fmt.Sprintf("/tenant/customer/%d/move", top+1), map[string]any{"parentId": top + 2}, nil)
	return row{
		name: size + "move a tenth of them, with its users", wanted: "< 5 s", figure: fmt.Sprintf("%.1f s", time.Since(begin).Seconds()),
	}, err
}
