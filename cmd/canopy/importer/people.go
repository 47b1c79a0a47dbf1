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
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	canopy "canopy/clients/go"
	"canopy/internal/intake"
	letter "canopy/internal/mail"
	"canopy/internal/spelling"
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
	// Report, unless it is nil, opens what is told what became of each line, as CSV, once it is known what the columns are.
	Report func() (io.WriteCloser, error)
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

// person is a line of the file. One with a fault is not asked for.
type person struct {
	line                       int
	Email, FirstName, LastName string
	fault                      string
}

// faultOf tells what is wrong with a line by itself, if anything is.
func faultOf(who person, fields, want int) string {
	switch {
	case fields != want:
		return fmt.Sprintf("there are %d fields, and the first line names %d columns", fields, want)
	case !utf8.ValidString(who.Email + who.FirstName + who.LastName):
		return "is not in UTF-8; save the file as CSV in UTF-8"
	case longest(who) > maxField:
		return fmt.Sprintf("a field is longer than %d characters", maxField)
	case who.Email == "":
		return "there is no e-mail address"
	}
	return ""
}

// maxField is longer than any field that the platform takes, in characters: what is longer would be refused with all others of its request.
const maxField = 300

func longest(who person) int {
	return max(utf8.RuneCountInString(who.Email), utf8.RuneCountInString(who.FirstName), utf8.RuneCountInString(who.LastName))
}

// maxFailures is how many of the lines that failed are told of beside the report.
const maxFailures = 20

// Run adds the people of a file, whose first line names its columns: email, and firstName and lastName where it has them. Others are refused, as who
// gives them would take for done what is not. Its error tells how many were not added.
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
	places, fields, err := columnsOf(rows)
	if err != nil {
		return err
	}
	end, err := p.openReport()
	if err != nil {
		return err
	}
	err = p.all(ctx, rows, places, fields)
	p.report.Flush()
	_ = bar.Finish()
	if ctx.Err() != nil {
		err = errors.New("interrupted; the same command goes on where it stopped")
	}
	return errors.Join(p.summary(), err, p.report.Error(), end())
}

// openReport begins the report; end closes it.
func (p *People) openReport() (end func() error, err error) {
	p.report, end = csv.NewWriter(io.Discard), func() error { return nil }
	if p.Report != nil {
		file, err := p.Report()
		if err != nil {
			return nil, err
		}
		p.report, end = csv.NewWriter(file), file.Close
	}
	return end, p.report.Write([]string{"line", "email", "outcome", "code", "message"})
}

// columns are those that are known, without regard to case.
var columns = []string{"email", "firstName", "lastName"}

// columnsOf reads the first line: where each column is that is known, and how many there are.
func columnsOf(rows *csv.Reader) (places map[string]int, fields int, err error) {
	head, err := rows.Read()
	if err != nil {
		return nil, 0, fmt.Errorf("the first line has to name the columns, such as email,firstName,lastName: %w", err)
	}
	places = map[string]int{}
	var strange []string
	for i, said := range head {
		said = strings.TrimSpace(strings.TrimPrefix(said, "\ufeff"))
		at := slices.IndexFunc(columns, func(known string) bool { return strings.EqualFold(said, known) })
		if at < 0 {
			strange = append(strange, refused(said, i))
			continue
		}
		name := strings.ToLower(columns[at])
		if _, twice := places[name]; twice {
			return nil, 0, fmt.Errorf("the first line names the column %s twice", columns[at])
		}
		places[name] = i
	}
	if _, ok := places["email"]; !ok {
		strange = append([]string{"the first line has to name the columns, between commas, one of which is email"}, strange...)
	}
	if len(strange) > 0 {
		return nil, 0, errors.New(strings.Join(strange, "; "))
	}
	return places, len(head), nil
}

// refused says what is wrong with a column that is not known: whoever gives it means something by it.
func refused(name string, at int) string {
	if name == "" {
		return fmt.Sprintf("the column %d has no name", at+1)
	}
	if near := spelling.Nearest(name, columns, strings.ToLower); near != "" {
		return fmt.Sprintf("there is no column %q: did you mean %s?", name, near)
	}
	return fmt.Sprintf("there is no column %q: there are %s", name, strings.Join(columns, ", "))
}

// all goes through the lines, some at a time.
func (p *People) all(ctx context.Context, rows *csv.Reader, places map[string]int, fields int) error {
	var batch []person
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return p.some(ctx, batch)
		}
		if err != nil {
			return errors.Join(p.some(ctx, batch), fmt.Errorf("what follows was not read: %w", err))
		}
		field := func(name string) string {
			if i, ok := places[name]; ok && i < len(row) {
				return strings.Clone(strings.TrimSpace(row[i]))
			}
			return ""
		}
		line, _ := rows.FieldPos(0)
		who := person{line: line, Email: field("email"), FirstName: field("firstname"), LastName: field("lastname")}
		if who.fault = faultOf(who, len(row), fields); who.fault != "" { // nothing but its address is told, and names a line
			who.Email, who.FirstName, who.LastName = intake.Clip(who.Email), "", ""
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
	users := make([]map[string]any, 0, len(batch))
	for _, who := range batch {
		if who.fault == "" {
			users = append(users, map[string]any{"email": who.Email, "firstName": who.FirstName, "lastName": who.LastName})
		}
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
	if len(users) > 0 {
		if err := p.patiently(ctx, func() error { return p.Client.Call(ctx, http.MethodPost, "/v1/users/bulk", body, &answer) }); err != nil {
			return err
		}
	}
	if len(answer.Results) != len(users) {
		return fmt.Errorf("of %d people the platform has told of %d", len(users), len(answer.Results))
	}
	results := answer.Results
	for _, who := range batch {
		if who.fault != "" {
			p.tell(who, "failed", "BAD_REQUEST", who.fault)
			continue
		}
		switch r := results[0]; {
		case r.Error == nil:
			p.tell(who, "added", "", "")
		case r.Error.Code == "user_exists":
			p.tell(who, "there", "", "")
		default:
			p.tell(who, "failed", r.Error.Code, r.Error.Message)
		}
		results = results[1:]
	}
	return nil
}

// look tells what would become of some people: who is there, and whose address or name is none.
func (p *People) look(ctx context.Context, batch []person) error {
	for _, who := range batch {
		if who.fault != "" {
			p.tell(who, "failed", "BAD_REQUEST", who.fault)
			continue
		}
		if field, link := leads(who); link != "" {
			p.tell(who, "failed", "BAD_REQUEST", field+": must be a name, without "+link)
			continue
		}
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

// leads tells which of somebody's names leads anywhere, and by what.
func leads(who person) (field, link string) {
	if link := letter.Leads(who.FirstName); link != "" {
		return "firstName", link
	}
	return "lastName", letter.Leads(who.LastName)
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
			of := fmt.Sprintf("line %d: ", who.line)
			if who.Email != "" {
				of += who.Email + ": "
			}
			p.firstFailures = append(p.firstFailures, of+message)
		}
	}
	_ = p.report.Write([]string{strconv.Itoa(who.line), inert(who.Email), outcome, inert(code), inert(message)}) // Flush tells of it
}

// inert is a cell that spreadsheets show, and don't take for a formula: others write what stands in a file of people.
func inert(cell string) string {
	if strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
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
	switch {
	case p.failed > 0 && p.DryRun:
		return fmt.Errorf("%d would not be added", p.failed)
	case p.failed > 0:
		return fmt.Errorf("%d not added: the same command tries them again", p.failed)
	}
	return nil
}
