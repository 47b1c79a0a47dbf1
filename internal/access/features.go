package access

import "slices"

// Features is the set of rights of a role, one bit each.
type Features uint32

// The rights, named area.verb. Their order is the order in which roles list them; the bits are
// never stored, only the names are.
const (
	CompanyRead Features = 1 << iota
	CompanyWrite
	CompanyCreate
	BillingRead
	BillingWrite
	UserRead
	UserWrite
	PermissionRead
	PermissionWrite
	ContextRead
	ContextWrite
	AgentRead
	AgentWrite
	AgentRun
	WebhookRead
	WebhookWrite
	KeyRead
	KeyWrite
	AuditRead
)

var featureNames = []string{
	"company.read", "company.write", "company.create",
	"billing.read", "billing.write",
	"user.read", "user.write",
	"permission.read", "permission.write",
	"context.read", "context.write",
	"agent.read", "agent.write", "agent.run",
	"webhook.read", "webhook.write",
	"key.read", "key.write",
	"audit.read",
}

// The features of the system roles. Owners and admins have all; what only an owner may, the owner rule
// says. Viewers read everything but keys and the audit log; members also write contexts and run agents.
const (
	AllFeatures    = AuditRead<<1 - 1
	ViewerFeatures = CompanyRead | BillingRead | UserRead | PermissionRead | ContextRead | AgentRead | WebhookRead
	MemberFeatures = ViewerFeatures | ContextWrite | AgentRun
)

// FeatureNames lists every right by name.
func FeatureNames() []string { return slices.Clone(featureNames) }

// ParseFeature reads one right; false when there is none of that name.
func ParseFeature(name string) (Features, bool) {
	i := slices.Index(featureNames, name)
	if i < 0 {
		return 0, false
	}
	return 1 << i, true
}

// ParseFeatures reads the rights of a role, passing over names that are unknown.
func ParseFeatures(names []string) (set Features) {
	for _, n := range names {
		f, _ := ParseFeature(n)
		set |= f
	}
	return set
}

// Has tells whether the set holds all of f.
func (set Features) Has(f Features) bool { return set&f == f }

// Names lists the set's rights in their fixed order.
func (set Features) Names() []string {
	names := []string{}
	for i, n := range featureNames {
		if set&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}
