package resolvers

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/archive"
	"canopy/internal/extract"
	"canopy/internal/quota"
	"canopy/internal/webhook"
)

// The rows of an archive that are read in, with their members as an export writes them. Each is held to the bounds of what is made by
// hand. Members that are not used here stand for themselves: an archive has them, and no others.

// importedRow is a row of an archive.
type importedRow interface {
	// place gives its id and that of what it belongs to.
	place() (id, owner int64)
	check(v *check)
}

// importedRows make a row of each kind that is read in.
var importedRows = map[string]func() importedRow{
	"customers":           func() importedRow { return &importedCustomer{} },
	"billing":             func() importedRow { return &importedBilling{} },
	"users":               func() importedRow { return &importedUser{} },
	"roles":               func() importedRow { return &importedRole{} },
	"accounts":            func() importedRow { return &importedAccount{} },
	"permissions":         func() importedRow { return &importedPermission{} },
	"contexts":            func() importedRow { return &importedContext{} },
	"documents":           func() importedRow { return &importedDocument{} },
	"agents":              func() importedRow { return &importedAgent{} },
	"agentRevisions":      func() importedRow { return &importedRevision{} },
	"webhookDestinations": func() importedRow { return &importedDestination{} },
}

// notImported are the kinds that an archive has and an import does not make, and why.
var notImported = map[string]string{
	"invitations":       "whoever belongs to a company here is invited anew",
	"apiKeys":           "their secrets are not in the archive: new ones are created",
	"secrets":           "their values are not in the archive: they are set anew, with the same names",
	"identityProviders": "their secrets are not in the archive, and their domains are claimed anew",
	"runs":              "they have been run elsewhere",
	"webhookDeliveries": "they have been delivered elsewhere",
	"auditEvents":       "the log tells what was done on this platform",
}

// importedKinds are all kinds of an archive, for its reader.
func importedKinds() map[string]bool {
	kinds := map[string]bool{}
	for kind := range importedRows {
		kinds[kind] = true
	}
	for kind := range notImported {
		kinds[kind] = false
	}
	return kinds
}

// readRow reads a row, and checks it.
func readRow(at archive.Place, kind string, line []byte) (importedRow, error) {
	row := importedRows[kind]()
	if err := archive.Decode(line, row); err != nil {
		return nil, at.Faultf("%v", err)
	}
	var v check
	if id, _ := row.place(); id < 1 {
		v.fault("id", "must be a positive integer")
	}
	row.check(&v)
	v.moments(reflect.ValueOf(row).Elem())
	var list []string
	for _, f := range v.faults {
		list = append(list, f.Location+": "+f.Message)
	}
	if len(list) > 0 {
		return nil, at.Faultf("%s", strings.Join(list, "; "))
	}
	return row, nil
}

// moments checks the moments of a row.
func (v *check) moments(row reflect.Value) {
	for field, member := range row.Fields() {
		if member = reflect.Indirect(member); !member.IsValid() {
			continue // null
		}
		if at, is := reflect.TypeAssert[time.Time](member); is {
			v.moment(field.Tag.Get("json"), at)
		}
	}
}

type importedCustomer struct {
	ID                int64            `json:"id"`
	ParentID          *int64           `json:"parentId"`
	Name              string           `json:"name"`
	RegionID          int64            `json:"regionId"`
	Region            string           `json:"region"`
	Status            string           `json:"status"`
	CanAddCustomers   bool             `json:"canAddCustomers"`
	DescendantsCanAdd bool             `json:"descendantsCanAdd"`
	MaxKeyDays        *int             `json:"maxKeyDays"`
	CreatedAt         time.Time        `json:"createdAt"`
	Limits            map[string]int64 `json:"limits"`
}

func (r *importedCustomer) place() (int64, int64) { return r.ID, or(r.ParentID, 0) }

func (r *importedCustomer) check(v *check) {
	v.name("name", r.Name)
	v.name("region", r.Region)
	v.oneOf("status", &r.Status, []string{db.CustomerActive, db.CustomerSuspended, db.CustomerDeleted})
	if days := r.MaxKeyDays; days != nil && (*days < 1 || *days > longestKeyDays) {
		v.fault("maxKeyDays", "must be between 1 and %d", longestKeyDays)
	}
	if r.Limits == nil {
		r.Limits = map[string]int64{}
	}
	for name, most := range r.Limits {
		if !quota.Name(name).Known() {
			v.fault("limits", "there is no limit %q; there are %s", clip(name), quota.List())
		}
		if most < 0 || most > quota.Highest {
			v.fault("limits."+clip(name), "must be between 0 and %d", quota.Highest)
		}
	}
}

type importedBilling struct {
	CustomerID   int64     `json:"customerId"`
	BillingName  string    `json:"billingName"`
	BusinessID   string    `json:"businessId"`
	TaxID        string    `json:"taxId"`
	AddressLine1 string    `json:"addressLine1"`
	AddressLine2 string    `json:"addressLine2"`
	City         string    `json:"city"`
	State        string    `json:"state"`
	ZipCode      string    `json:"zipCode"`
	CountryCode  string    `json:"countryCode"`
	CreatedAt    time.Time `json:"createdAt"`
}

func (r *importedBilling) place() (int64, int64) { return r.CustomerID, r.CustomerID }

func (r *importedBilling) check(v *check) {
	for name, text := range map[string]string{
		"billingName": r.BillingName, "businessId": r.BusinessID, "taxId": r.TaxID, "addressLine1": r.AddressLine1, "addressLine2": r.AddressLine2,
		"city": r.City, "state": r.State, "zipCode": r.ZipCode,
	} {
		v.line(name, text, maxName)
	}
	v.country("countryCode", &r.CountryCode)
}

type importedUser struct {
	ID         int64     `json:"id"`
	CustomerID int64     `json:"customerId"`
	Accepted   bool      `json:"accepted"`
	Added      bool      `json:"added"`
	Email      string    `json:"email"`
	FirstName  string    `json:"firstName"`
	LastName   string    `json:"lastName"`
	CreatedAt  time.Time `json:"createdAt"`
}

func (r *importedUser) place() (int64, int64) { return r.ID, r.CustomerID }

func (r *importedUser) check(v *check) {
	v.email(r.Email)
	v.person("firstName", &r.FirstName)
	v.person("lastName", &r.LastName)
}

type importedRole struct {
	ID            int64     `json:"id"`
	CustomerID    int64     `json:"customerId"`
	ApplicationID int64     `json:"applicationId"`
	Application   string    `json:"application"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	IsOwner       bool      `json:"isOwner"`
	Features      []string  `json:"features"`
	CreatedAt     time.Time `json:"createdAt"`
}

func (r *importedRole) place() (int64, int64) { return r.ID, r.CustomerID }

func (r *importedRole) check(v *check) {
	v.application("application", r.Application)
	v.name("name", r.Name)
	v.text("description", r.Description, maxText)
	r.Features = v.features(r.Features)
}

// application checks the code of an application.
func (v *check) application(field, code string) {
	if _, known := access.ParseApp(code); !known {
		v.fault(field, "is none of the applications tenant, assistant and builder")
	}
}

type importedAccount struct {
	ID          int64     `json:"id"`
	CustomerID  int64     `json:"customerId"`
	Application string    `json:"application"`
	Region      string    `json:"region"`
	Name        string    `json:"name"`
	Disabled    bool      `json:"disabled"`
	CreatedAt   time.Time `json:"createdAt"`
}

func (r *importedAccount) place() (int64, int64) { return r.ID, r.CustomerID }

func (r *importedAccount) check(v *check) {
	v.application("application", r.Application)
	v.name("region", r.Region)
	v.name("name", r.Name)
}

type importedPermission struct {
	ID        int64 `json:"id"`
	AccountID int64 `json:"accountId"`
	UserID    int64 `json:"userId"`
	Role      struct {
		ID     int64  `json:"id"`
		Name   string `json:"name"`
		System bool   `json:"system"`
	} `json:"role"`
	Disabled   bool       `json:"disabled"`
	LastAccess *time.Time `json:"lastAccess"`
	CreatedAt  time.Time  `json:"createdAt"`
}

func (r *importedPermission) place() (int64, int64) { return r.ID, r.AccountID }

func (r *importedPermission) check(v *check) { v.name("role.name", r.Role.Name) }

type importedContext struct {
	ID             int64     `json:"id"`
	AccountID      int64     `json:"accountId"`
	UserID         *int64    `json:"userId"`
	Name           string    `json:"name"`
	Description    string    `json:"description"`
	Caption        string    `json:"caption"`
	ToolsJSON      string    `json:"toolsJson"`
	StarterPrompts []string  `json:"starterPrompts"`
	Icon           string    `json:"icon"`
	EmbeddingModel string    `json:"embeddingModel"`
	MaxSize        int64     `json:"maxSize"`
	TopN           int       `json:"topN"`
	ScoreThreshold float64   `json:"scoreThreshold"`
	SearchMode     *string   `json:"searchMode,omitempty"`
	DenseWeight    *float64  `json:"denseWeight,omitempty"`
	ChunkSize      int       `json:"chunkSize"`
	Overlap        float64   `json:"overlap"`
	LogsQueries    bool      `json:"logsQueries"`
	CreatedAt      time.Time `json:"createdAt"`
}

func (r *importedContext) place() (int64, int64) { return r.ID, r.AccountID }

// maxContextSize is the most that a context's documents have together, in bytes.
const maxContextSize = 100 << 20

func (r *importedContext) check(v *check) {
	v.name("name", r.Name)
	v.text("description", r.Description, maxInstructions)
	v.text("caption", r.Caption, maxText)
	r.ToolsJSON = v.toolsJSON("toolsJson", r.ToolsJSON)
	if r.StarterPrompts == nil {
		r.StarterPrompts = []string{}
	}
	v.starterPrompts("starterPrompts", r.StarterPrompts)
	if r.Icon != "" && !isEmoji(r.Icon) {
		v.fault("icon", "must be a single emoji")
	}
	v.name("embeddingModel", r.EmbeddingModel)
	if r.MaxSize < 1 || r.MaxSize > maxContextSize {
		v.fault("maxSize", "must be 1 to %d", maxContextSize)
	}
	v.settings(UpdateContextInput{TopN: &r.TopN, ScoreThreshold: &r.ScoreThreshold, SearchMode: r.SearchMode, DenseWeight: r.DenseWeight, ChunkSize: &r.ChunkSize, Overlap: &r.Overlap})
}

type importedDocument struct {
	ID           int64  `json:"id"`
	ContextID    int64  `json:"contextId"`
	FileName     string `json:"fileName"`
	OriginalName string `json:"originalName"`
	DisplayName  string `json:"displayName"`
	NameIndex    int    `json:"nameIndex"`
	Format       string `json:"format"`
	ContentType  string `json:"contentType"`
	ContentHash  string `json:"contentHash"`
	Size         int64  `json:"size"`
	Status       string `json:"status"`
	// Attributes are left out in archives of before there were any.
	Attributes json.RawMessage `json:"attributes"`
	CreatedBy  *int64          `json:"createdBy"`
	CreatedAt  time.Time       `json:"createdAt"`
}

func (r *importedDocument) place() (int64, int64) { return r.ID, r.ContextID }

func (r *importedDocument) check(v *check) {
	if id, err := uuid.Parse(r.FileName); err != nil || id.String() != r.FileName {
		v.fault("fileName", "is not a UUID")
	}
	if r.OriginalName == "" || fileName(r.OriginalName) != r.OriginalName {
		v.fault("originalName", "is not the name of a file")
	}
	if r.NameIndex < 0 || r.NameIndex > maxOrdinal {
		v.fault("nameIndex", "must be 0 to %d", maxOrdinal)
	}
	if isOwnName(r.DisplayName, r.OriginalName, r.NameIndex) {
		r.DisplayName = displayName(r.OriginalName, r.NameIndex)
	} else {
		v.name("displayName", r.DisplayName)
	}
	format, err := extract.FormatOf(r.OriginalName)
	var f *extract.Failure
	if errors.As(err, &f) {
		v.fault("originalName", "%s", f.Message)
	}
	r.Format, r.ContentType = string(format), format.ContentType()
	r.Attributes = v.storedAttributes("attributes", r.Attributes)
	if r.Size < 1 || r.Size > maxContextSize {
		v.fault("size", "must be 1 to %d", maxContextSize)
	}
}

// maxOrdinal is more than there is of documents of one name, or of revisions.
const maxOrdinal = 1 << 30

type importedAgent struct {
	ID          int64           `json:"id"`
	AccountID   int64           `json:"accountId"`
	Name        string          `json:"name"`
	Diagram     json.RawMessage `json:"diagram"`
	PublishedID *int64          `json:"publishedId"`
	Enabled     bool            `json:"enabled"`
	CreatedAt   time.Time       `json:"createdAt"`
	UpdatedAt   time.Time       `json:"updatedAt"`
}

func (r *importedAgent) place() (int64, int64) { return r.ID, r.AccountID }

func (r *importedAgent) check(v *check) {
	v.name("name", r.Name)
	v.wholeDraft(r.Diagram)
}

// wholeDraft checks a draft that must be there.
func (v *check) wholeDraft(raw json.RawMessage) {
	v.draft(raw)
	if len(raw) == 0 {
		v.fault("diagram", "is required")
	}
}

type importedRevision struct {
	ID        int64           `json:"id"`
	AgentID   int64           `json:"agentId"`
	Number    int             `json:"number"`
	Diagram   json.RawMessage `json:"diagram"`
	CreatedAt time.Time       `json:"createdAt"`
}

func (r *importedRevision) place() (int64, int64) { return r.ID, r.AgentID }

func (r *importedRevision) check(v *check) {
	if r.Number < 1 || r.Number > maxOrdinal {
		v.fault("number", "must be a positive integer")
	}
	v.wholeDraft(r.Diagram)
}

type importedDestination struct {
	ID         int64     `json:"id"`
	CustomerID int64     `json:"customerId"`
	URL        string    `json:"url"`
	Name       string    `json:"name"`
	Events     []string  `json:"events"`
	Enabled    bool      `json:"enabled"`
	Signing    string    `json:"signing"`
	CreatedAt  time.Time `json:"createdAt"`
}

func (r *importedDestination) place() (int64, int64) { return r.ID, r.CustomerID }

// Where a host that is a name leads is looked at when it is enabled, and before each delivery.
func (r *importedDestination) check(v *check) {
	v.line("url", r.URL, maxURL)
	if !strings.HasPrefix(r.URL, "https://") {
		v.fault("url", "must begin with https://")
	}
	v.line("name", r.Name, maxName)
	v.events("events", r.Events)
	v.oneOf("signing", &r.Signing, []string{webhook.SigningSpec, webhook.SigningStandard})
}
