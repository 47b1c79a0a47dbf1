package webhook

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"canopy/internal/audit"
)

// The types beyond the catalog's own are sent to those destinations alone that name them, and never to
// one that asked for all.
const (
	auditCategory = "audit"
	auditPrefix   = auditCategory + "."
	// AuditAll names every type of an audit event, those to come included.
	AuditAll = auditPrefix + "*"
)

// Audited tells of an event of the audit log.
type Audited struct {
	AuditEventID int64  `json:"auditEventId"`
	Action       string `json:"action"`
	ObjectType   string `json:"objectType"`
	ObjectID     int64  `json:"objectId"`
	CustomerID   int64  `json:"customerId"`
	// ActorKind is what kind of actor did it, also where ActorID is nil.
	ActorKind string `json:"actorKind"`
	// ActorID is nil for the platform itself, for who has not shown to be anybody, and for who is beyond the company's reach.
	ActorID *int64 `json:"actorId"`
	// ClientID is nil without an API key.
	ClientID  *string         `json:"clientId"`
	Details   json.RawMessage `json:"details"`
	CreatedAt time.Time       `json:"createdAt"`
}

// EventType implements Data.
func (a Audited) EventType() string { return AuditType(a.Action) }

// AuditType is the type of the event that tells of an action.
func AuditType(action string) string { return auditPrefix + action }

// The types of the events that tell of a company's limits.
const (
	TypeLimitWarning = "limit.warning"
	TypeLimitReached = "limit.reached"
)

// Limited tells how much of a limit of a company is used, by the company with everything below it.
type Limited struct {
	CustomerID int64 `json:"customerId"`
	// Limit is its name.
	Limit string `json:"limit"`
	Used  int64  `json:"used"`
	Max   int64  `json:"max"`
}

type (
	limitWarning struct{ Limited }
	limitReached struct{ Limited }
)

func (limitWarning) EventType() string { return TypeLimitWarning }
func (limitReached) EventType() string { return TypeLimitReached }

// NewLimit tells that a limit is reached, or that four fifths of it are used.
func NewLimit(reached bool, l Limited) Data {
	if reached {
		return limitReached{l}
	}
	return limitWarning{l}
}

var extended = slices.Concat(limitEntries(), auditEntries())

func limitEntries() []Entry {
	return []Entry{
		entry(NewLimit(false, Limited{CustomerID: 3, Limit: "users", Used: 80, Max: 100}), "Four fifths of a limit are used; told once a day.", "customerId", "limit", "used", "max"),
		entry(NewLimit(true, Limited{CustomerID: 3, Limit: "users", Used: 100, Max: 100}), "A limit is reached; told once a day.", "customerId", "limit", "used", "max"),
	}
}

func auditEntries() []Entry {
	user, client := int64(7), "cnpyid_0123456789"
	var list []Entry
	for _, a := range audit.Actions() {
		example := Audited{
			AuditEventID: 1024, Action: string(a.Action), ObjectType: "Customer", ObjectID: 3, CustomerID: 3, ActorKind: "apiKey", ActorID: &user, ClientID: &client,
			Details:   json.RawMessage(`{"name":{"old":"Example Ltd","new":"Example & Sons Ltd"}}`),
			CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}
		list = append(list, entry(example, a.Description,
			"auditEventId", "action", "objectType", "objectId", "customerId", "actorKind", "actorId", "clientId", "details", "createdAt"))
	}
	return list
}

// Extended is every event type: the catalog's, and then those that have to be named.
func Extended() []Entry { return slices.Concat(catalog, extended) }

// Names lists what a destination can ask for: every event type, and AuditAll.
func Names() []string {
	list := Types()
	list = append(list, AuditAll)
	for _, e := range extended {
		list = append(list, e.Type)
	}
	return list
}

// IsAudit tells whether a name is that of events of the audit log.
func IsAudit(name string) bool { return strings.HasPrefix(name, auditPrefix) }

// IsLimit tells whether a name is that of events that tell of a company's limits.
func IsLimit(name string) bool { return name == TypeLimitWarning || name == TypeLimitReached }

// NamesOf gives the names by which a destination asks for a type, and whether one that asked for all
// gets it, too.
func NamesOf(eventType string) (names []string, all bool) {
	names = []string{eventType}
	if IsAudit(eventType) {
		names = append(names, AuditAll)
	}
	return names, slices.ContainsFunc(catalog, func(e Entry) bool { return e.Type == eventType })
}
