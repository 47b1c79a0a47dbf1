package isolation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/rest"
)

// TestRESTIsolation asks every documented operation, as every kind of caller, for a company that is
// there and for one that is not.
func TestRESTIsolation(t *testing.T) {
	t.Parallel()
	restIsolation(t, newWorld(t))
}

func restIsolation(t *testing.T, w *world) {
	t.Helper()
	m := newMatrix(t, w)
	rows := map[string][]restRow{}
	for _, row := range restRows() {
		name, _, _ := strings.Cut(row.op, "/")
		rows[name] = append(rows[name], row)
	}
	_, registry := rest.New(w.App.Resolver, rest.Options{})
	for _, e := range rest.Endpoints(registry) {
		if agentOperations()[e.OperationID] {
			continue
		}
		list := rows[e.OperationID]
		if len(list) == 0 {
			t.Errorf("%s %s (%s) has no row in the matrix", e.Method, e.Path, e.OperationID)
		}
		delete(rows, e.OperationID)
		for _, row := range list {
			if w.apart() && !row.assistant && !row.apart {
				continue
			}
			if row.public != (e.Rule == nil) {
				t.Errorf("%s: its rule is %v", row.op, e.Rule)
			}
			if !row.public {
				t.Run(row.op, func(t *testing.T) {
					m.row(t, w.answers(row.want, row.rules(e), row.assistant), row.sender(e), e.Method != http.MethodGet)
				})
			}
		}
	}
	for name := range rows {
		t.Errorf("the matrix has a row for %s, which is no operation", name)
	}
	w.quiet(t)
}

// sender makes the request of a row.
func (row restRow) sender(e rest.Endpoint) func(*ask) func() platform.Answer {
	return func(a *ask) func() platform.Answer {
		path := e.Path
		if row.path != nil {
			path = fill(path, row.path(a))
		}
		if row.query != nil {
			path += "?" + row.query(a)
		}
		var body any
		if row.body != nil {
			body = row.body(a)
		}
		if row.form != nil {
			raw, contentType := platform.Form(a.T, row.form...)
			return func() platform.Answer { return a.Post(path, a.token(row.assistant), contentType, raw) }
		}
		return func() platform.Answer { return a.Do(e.Method, path, a.token(row.assistant), body) }
	}
}

var place = regexp.MustCompile(`\{[^}]+\}`)

// fill puts values into the places of a path, in order.
func fill(template string, values []any) string {
	return place.ReplaceAllStringFunc(template, func(string) string {
		v := values[0]
		values = values[1:]
		return fmt.Sprint(v)
	})
}

// wholeMatrix asks all rows as every caller, also where the home alone has been asked so, which takes minutes.
var wholeMatrix = os.Getenv("CANOPY_MATRIX") == "whole"

// matrix runs rows and judges the answers.
type matrix struct {
	*world
	tables []*tables
	// followed is the state of the home that all cells know.
	followed string
	// turn is whose turn it is to ask, where not everybody asks each row.
	turn int
}

func newMatrix(t *testing.T, w *world) *matrix {
	m := &matrix{world: w, tables: []*tables{newTables(t, w.DB)}}
	if w.apart() {
		m.tables = append(m.tables, newTables(t, w.data.DB))
	}
	return m
}

// follow waits until all cells know what was written at the home.
func (m *matrix) follow(t *testing.T) {
	if m.known == nil {
		return
	}
	if now := m.tables[0].state(t); now != m.followed {
		m.known()
		m.followed = now
	}
}

// state stands for what all tables hold.
func (m *matrix) state(t *testing.T) (all string) {
	for _, x := range m.tables {
		all += x.state(t) + "; "
	}
	return all
}

// callers are those who ask the next row: everybody, or the next ones of everybody.
func (m *matrix) callers() []who {
	if m.inTurn == 0 || wholeMatrix {
		return everybody
	}
	var some []who
	for range m.inTurn {
		some = append(some, everybody[m.turn%len(everybody)])
		m.turn++
	}
	return some
}

// row asks once for each caller, for what is there and for what is not.
func (m *matrix) row(t *testing.T, want answers, send func(*ask) func() platform.Answer, writes bool) {
	m.T = t
	for _, as := range m.callers() {
		var refusals []string
		for _, absent := range []bool{false, true} {
			if absent && (want.absent == nil || want.wants(as, false) == gets401) {
				continue
			}
			a := &ask{world: m.world, as: as, absent: absent}
			before := ""
			ready := send(a)
			if writes && want.wants(as, absent) != getsOK {
				before = m.state(t)
			}
			m.follow(t)
			got := ready()
			m.judge(t, a, want.wants(as, absent), got)
			if now := m.state; before != "" && now(t) != before {
				t.Errorf("%s: the refused request has written something: %s", a, now(t))
			}
			if as.outside() && classOf(got) != getsOK {
				refusals = append(refusals, faceless(got.Body))
			}
		}
		if len(refusals) == 2 && refusals[0] != refusals[1] {
			t.Errorf("%s: the refusal tells what is there from what is not:\n%s\n%s", as, refusals[0], refusals[1])
		}
	}
}

// token is the caller's, for the tenant application or the assistant.
func (a *ask) token(assistant bool) string {
	if assistant {
		return a.desk[a.as]
	}
	return a.tokens[a.as]
}

func (a *ask) String() string {
	if a.absent {
		return string(a.as) + ", of what is not there"
	}
	return string(a.as)
}

// judge checks the class of an answer, and that it tells nothing that its caller may not know.
func (m *matrix) judge(t *testing.T, a *ask, want class, got platform.Answer) {
	t.Helper()
	c := classOf(got)
	if c != want {
		t.Errorf("%s: got %s, want %s: %d %.300s", a, c, want, got.Status, got.Body)
	}
	if c == getsOK && !a.as.outside() {
		return
	}
	for _, mark := range m.hidden(a.as, c != getsOK) {
		if bytes.Contains(got.Body, []byte(mark)) {
			t.Errorf("%s: the answer tells %q: %.500s", a, mark, got.Body)
		}
	}
}

var classes = map[int]class{400: getsBad, 401: gets401, 403: gets403, 404: gets404}

// classOf gives the class of an answer of either door.
func classOf(a platform.Answer) class {
	var body struct {
		Errors []struct {
			Extensions struct{ Code class }
		}
	}
	if a.Status >= 300 {
		if c, known := classes[a.Status]; known {
			return c
		}
		return class(strconv.Itoa(a.Status))
	}
	if json.Unmarshal(a.Body, &body) == nil && len(body.Errors) > 0 {
		return body.Errors[0].Extensions.Code
	}
	return getsOK
}

var (
	digits    = regexp.MustCompile(`\d+`)
	requestID = regexp.MustCompile(`"requestId":"[^"]*"`)
)

// faceless is a refusal without the numbers that the caller itself sent, and without its id.
func faceless(body []byte) string {
	return digits.ReplaceAllString(requestID.ReplaceAllString(string(body), ""), "N")
}

// quiet checks that nothing failed inside the platform.
func (w *world) quiet(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(w.Log.String()) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") || strings.Contains(line, "status=500") {
			t.Errorf("in the log: %.600s", line)
		}
	}
}
