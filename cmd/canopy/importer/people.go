package importer

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"net/mail"
	"os"
	"strconv"
	"strings"
	"time"

	canopy "canopy/clients/go"
)

// peopleAtOnce is how many people are added with one request.
const peopleAtOnce = 100

// People adds the people of a CSV file to a company. Who is in it already is left alone, so that it goes on where it was
// interrupted. It holds no more than one request's people at a time, and of a dry run a number for each; it serves one Run.
type People struct {
	Client *canopy.Client
	// Customer is the company's id; 0 is that of the API key.
	Customer int64
	// DryRun looks what would be done, and adds nobody.
	DryRun bool
	// Report, unless it is nil, is told what became of each line, as CSV.
	Report io.Writer
	// JSON, unless it is nil, is told what came of it, in place of Out.
	JSON func(v any) error
	// Out is told what came of it, Progress, if it is a terminal, how far it is.
	Out, Progress io.Writer

	report        *csv.Writer
	added, there  int
	failed        int
	firstFailures []string
	seen          map[uint64]struct{} // addresses of a dry run
}

// person is a line of the file.
type person struct {
	line                       int
	Email, FirstName, LastName string
}

// maxFailures is how many of the lines that failed are told of beside the report.
const maxFailures = 20

// Run adds the people of a file, whose first line names its columns: email, and firstName and lastName where it has them; others
// are passed over. Its error tells how many were not added.
func (p *People) Run(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	bar := NewBar(p.Progress, info.Size(), true)
	rows := csv.NewReader(io.TeeReader(file, bar))
	rows.ReuseRecord, rows.FieldsPerRecord = true, -1
	places, err := columnsOf(rows)
	if err != nil {
		return err
	}
	p.report = csv.NewWriter(io.Discard)
	if p.Report != nil {
		p.report = csv.NewWriter(p.Report)
	}
	if err := p.report.Write([]string{"line", "email", "outcome", "code", "message"}); err != nil {
		return err
	}
	err = p.all(ctx, rows, places)
	p.report.Flush()
	_ = bar.Finish()
	if ctx.Err() != nil {
		err = errors.New("interrupted; the same command goes on where it stopped")
	}
	return errors.Join(p.summary(), err, p.report.Error())
}

// columnsOf reads the first line: where each column is that is known.
func columnsOf(rows *csv.Reader) (places map[string]int, err error) {
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("the first line has to name the columns, such as email,firstName,lastName: %w", err)
	}
	places = map[string]int{}
	for i, name := range head {
		places[strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))] = i
	}
	if _, ok := places["email"]; !ok {
		return nil, errors.New("the first line has to name the columns, one of which is email")
	}
	return places, nil
}

// all goes through the lines, some at a time.
func (p *People) all(ctx context.Context, rows *csv.Reader, places map[string]int) error {
	var batch []person
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return p.some(ctx, batch)
		}
		if err != nil {
			return errors.Join(p.some(ctx, batch), err)
		}
		field := func(name string) string {
			if i, ok := places[name]; ok && i < len(row) {
				return strings.Clone(strings.TrimSpace(row[i]))
			}
			return ""
		}
		line, _ := rows.FieldPos(0)
		who := person{line: line, Email: field("email"), FirstName: field("firstname"), LastName: field("lastname")}
		if who.Email == "" {
			p.tell(who, "failed", "BAD_REQUEST", "there is no e-mail address")
			continue
		}
		if batch = append(batch, who); len(batch) == peopleAtOnce {
			if err := p.some(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
}

// some adds some people, or looks what would become of them.
func (p *People) some(ctx context.Context, batch []person) error {
	switch {
	case len(batch) == 0:
		return nil
	case p.DryRun:
		return p.look(ctx, batch)
	}
	users := make([]map[string]any, len(batch))
	for i, who := range batch {
		users[i] = map[string]any{"email": who.Email, "firstName": who.FirstName, "lastName": who.LastName}
	}
	body := map[string]any{"users": users}
	if p.Customer != 0 {
		body["customerId"] = p.Customer
	}
	var answer struct {
		Results []struct {
			Error *struct{ Code, Message string }
		}
	}
	if err := p.patiently(ctx, func() error { return p.Client.Call(ctx, http.MethodPost, "/v1/users/bulk", body, &answer) }); err != nil {
		return err
	}
	if len(answer.Results) != len(batch) {
		return fmt.Errorf("of %d people the platform has told of %d", len(batch), len(answer.Results))
	}
	for i, r := range answer.Results {
		switch {
		case r.Error == nil:
			p.tell(batch[i], "added", "", "")
		case r.Error.Code == "user_exists":
			p.tell(batch[i], "there", "", "")
		default:
			p.tell(batch[i], "failed", r.Error.Code, r.Error.Message)
		}
	}
	return nil
}

// look tells what would become of some people: who is there, and whose address is none.
func (p *People) look(ctx context.Context, batch []person) error {
	for _, who := range batch {
		if a, err := mail.ParseAddress(who.Email); err != nil || a.Address != who.Email {
			p.tell(who, "failed", "BAD_REQUEST", "email: is not an e-mail address")
			continue
		}
		var answer struct {
			Customer struct {
				Users struct{ Nodes []struct{ Email string } }
			}
		}
		const query = `query($id: ID, $email: String!) { customer(id: $id) { users(first: 1, filter: {email: $email}) { nodes { email } } } }`
		variables := map[string]any{"email": who.Email}
		if p.Customer != 0 {
			variables["id"] = strconv.FormatInt(p.Customer, 10)
		}
		if err := p.patiently(ctx, func() error { return p.Client.GraphQL(ctx, query, variables, &answer) }); err != nil {
			return err
		}
		if len(answer.Customer.Users.Nodes) > 0 || p.again(who.Email) {
			p.tell(who, "there", "", "")
		} else {
			p.tell(who, "added", "", "")
		}
	}
	return nil
}

// again tells whether an address stood in the file before.
func (p *People) again(email string) bool {
	if p.seen == nil {
		p.seen = map[uint64]struct{}{}
	}
	h := maphash.String(seed, strings.ToLower(email))
	_, again := p.seen[h]
	p.seen[h] = struct{}{}
	return again
}

// seed is of the hashes that addresses are told from each other by: a file may have a million.
var seed = maphash.MakeSeed()

// patiently makes a request again for as long as the platform asks to come back later.
func (p *People) patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		refusal, ok := errors.AsType[*canopy.Refusal](err)
		if !ok || refusal.RetryAfter <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(refusal.RetryAfter):
		}
	}
}

// tell counts what became of a line, and reports it.
func (p *People) tell(who person, outcome, code, message string) {
	switch outcome {
	case "added":
		p.added++
	case "there":
		p.there++
	default:
		p.failed++
		if len(p.firstFailures) < maxFailures {
			p.firstFailures = append(p.firstFailures, fmt.Sprintf("line %d: %s: %s", who.line, who.Email, message))
		}
	}
	_ = p.report.Write([]string{strconv.Itoa(who.line), who.Email, outcome, code, message}) // Flush tells of it
}

func (p *People) summary() error {
	if p.JSON != nil {
		err := p.JSON(struct {
			DryRun   bool     `json:"dryRun"`
			Added    int      `json:"added"`
			There    int      `json:"there"`
			Failed   int      `json:"failed"`
			Failures []string `json:"failures"` // the first ones
		}{p.DryRun, p.added, p.there, p.failed, append([]string{}, p.firstFailures...)})
		return errors.Join(err, p.fault())
	}
	format := "%d added, %d there already, %d failed\n"
	if p.DryRun {
		format = "%d would be added, %d are there already, %d would fail\n"
	}
	_, _ = fmt.Fprintf(p.Out, format, p.added, p.there, p.failed)
	for _, line := range p.firstFailures {
		_, _ = fmt.Fprintln(p.Out, "  "+line)
	}
	if more := p.failed - len(p.firstFailures); more > 0 {
		_, _ = fmt.Fprintf(p.Out, "  and %d more, which the report has\n", more)
	}
	return p.fault()
}

func (p *People) fault() error {
	if p.failed > 0 {
		return fmt.Errorf("%d people were not added; the same command tries them again", p.failed)
	}
	return nil
}
