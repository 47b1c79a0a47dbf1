// Package quota names what a company's limits count, and what they are where nobody has set them. A limit of
// a company counts it with everything below it.
package quota

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Name is a limit's, as REST shows it.
type Name string

// The stocks: what there is at a time.
const (
	Customers    Name = "customers"
	Users        Name = "users"
	Contexts     Name = "contexts"
	Documents    Name = "documents"
	StorageBytes Name = "storageBytes"
	Chunks       Name = "chunks"
	Agents       Name = "agents"
	Secrets      Name = "secrets"
	Destinations Name = "destinations"
	APIKeys      Name = "apiKeys"
)

// The rates: what may be done in a time, which for ConcurrentRuns is now. Days are those of UTC.
const (
	RunsPerDay            Name = "runsPerDay"
	ConcurrentRuns        Name = "concurrentRuns"
	DeliveriesPerDay      Name = "deliveriesPerDay"
	MailsPerDay           Name = "mailsPerDay"
	EmbeddingTokensPerDay Name = "embeddingTokensPerDay"
	RequestsPerMinute     Name = "requestsPerMinute"
	CostPerMinute         Name = "costPerMinute"
)

// Highest is the largest limit: what every client's numbers hold exactly.
const Highest = 1<<53 - 1

// entry is a limit with its default for a company right below root; 0 is none.
type entry struct {
	name Name
	most int64
	rate bool
}

var entries = []entry{
	{name: Customers},
	{name: Users, most: 10_000_000},
	{name: Contexts, most: 1_000_000},
	{name: Documents, most: 10_000_000},
	{name: StorageBytes, most: 10 << 40},
	{name: Chunks, most: 1_000_000_000},
	{name: Agents, most: 1_000_000},
	{name: Secrets, most: 1_000_000},
	{name: Destinations, most: 1_000_000},
	{name: APIKeys, most: 1_000_000},
	{name: RunsPerDay, most: 50_000_000, rate: true},
	{name: ConcurrentRuns, most: 1_000_000, rate: true},
	{name: DeliveriesPerDay, most: 100_000_000, rate: true},
	{name: MailsPerDay, most: 1_000_000, rate: true},
	{name: EmbeddingTokensPerDay, most: 10_000_000_000, rate: true},
	{name: RequestsPerMinute, rate: true},
	{name: CostPerMinute, rate: true},
}

// Names lists every limit: first the stocks, then the rates.
func Names() []Name {
	list := make([]Name, len(entries))
	for i, e := range entries {
		list[i] = e.name
	}
	return list
}

// List is Names for a sentence.
func List() string {
	var list []string
	for _, e := range entries {
		list = append(list, string(e.name))
	}
	return strings.Join(list, ", ")
}

func (n Name) entry() *entry {
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == n })
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// Known tells whether there is a limit of this name.
func (n Name) Known() bool { return n.entry() != nil }

// Rate tells whether the limit is one of what is done in a time, and not of what there is.
func (n Name) Rate() bool {
	e := n.entry()
	return e != nil && e.rate
}

// BranchShare is how many times the minute of one key or person a company right below root has, so that more keys
// are not more of it.
const BranchShare = 10

// PerMinute tells whether it is counted by the minute, in Redis and not in the database.
func (n Name) PerMinute() bool { return n == RequestsPerMinute || n == CostPerMinute }

// Graph is the name as GraphQL has it: STORAGE_BYTES.
func (n Name) Graph() string {
	var b strings.Builder
	for _, r := range string(n) {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// MarshalGQL writes the name of the graph.
func (n Name) MarshalGQL(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(n.Graph())) }

// UnmarshalGQL reads the name of the graph, which the schema has checked.
func (n *Name) UnmarshalGQL(v any) error {
	for _, e := range entries {
		if e.name.Graph() == v {
			*n = e.name
			return nil
		}
	}
	return errors.New("a limit has one of the names of the enum")
}

// Defaults are the limits of companies right below root that have none of their own.
func Defaults() map[Name]int64 {
	most := map[Name]int64{}
	for _, e := range entries {
		if e.most > 0 {
			most[e.name] = e.most
		}
	}
	return most
}
