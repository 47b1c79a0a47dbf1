package tenancy

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/globalid"
)

// found are the results of the search box by REST, as types and names, in order.
func found(t *testing.T, s *platform.Platform, token, text, more string) string {
	t.Helper()
	var list []string
	for _, r := range s.Must(http.StatusOK, http.MethodGet, "/tenant/search?text="+url.QueryEscape(text)+more, token, nil).JSON(t).([]any) {
		entry := fmt.Sprint(platform.Member(t, r, "type"), ":", platform.Member(t, r, "name"))
		if email := platform.Member(t, r, "email"); email != nil {
			entry += "<" + email.(string) + ">"
		}
		list = append(list, entry)
	}
	return strings.Join(list, ", ")
}

// TestSearchBox looks for things as people do.
func TestSearchBox(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, top := s.Root(), orchard(s)
	for _, name := range []string{"Plumtree Gardens", "Plumtree", "The Plumtree Company", "Grüner Plumtree-Hof"} {
		s.SQL(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, $2, 1)`, top, name)
	}
	for _, name := range []string{"Søren Łódź", "Đặng Çağrı", "Groß Straße"} {
		s.SQL(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, $2, 1)`, top, name)
	}
	medlar := s.Number(`SELECT id FROM customers WHERE name = 'Medlar'`)
	s.SQL(`INSERT INTO webhook_destinations (customer_id, url, name, secret) VALUES ($1, 'https://hooks.plum.example/in', 'Medlar hook', '')`, medlar)
	for _, c := range []struct{ text, more, want string }{
		{"plumtree", "", "customer:Plumtree, customer:Plumtree Gardens, customer:Grüner Plumtree-Hof, customer:The Plumtree Company"},
		{"PLUMTR", "&first=2", "customer:Plumtree, customer:Plumtree Gardens"},
		{"hof gruner", "", "customer:Grüner Plumtree-Hof"},
		{"Plumtree Gar", "", "customer:Plumtree Gardens"},
		{"Plumtree company the", "", "customer:The Plumtree Company"},
		{"Plumtrae", "&first=1", "customer:Grüner Plumtree-Hof"},
		{"Plumtree Gradens", "", "customer:Plumtree Gardens"},
		{"Plumtree Grdaens", "", ""},
		{"soren", "", "customer:Søren Łódź"},
		{"Sören Lodz", "", "customer:Søren Łódź"},
		{"sorem", "", "customer:Søren Łódź"},
		{"dang cagri", "", "customer:Đặng Çağrı"},
		{"gross", "", "customer:Groß Straße"},
		{"STRASSE GROß", "", "customer:Groß Straße"},
		{"zoe@medlar.example", "", "user:Zoe Medlar<zoe@medlar.example>"},
		{"zoe@medlra.example", "", "user:Zoe Medlar<zoe@medlar.example>"},
		{"medlar", "", "customer:Medlar, webhookDestination:Medlar hook, user:Bob Medlar<bob@medlar.example>, user:Zoe Medlar<zoe@medlar.example>"},
		{"medlar", "&types=webhookDestination,customer", "customer:Medlar, webhookDestination:Medlar hook"},
		{"hooks.plum.example", "", "webhookDestination:Medlar hook"},
		{platform.Decimal(medlar), "&types=customer", "customer:Medlar"},
		{globalid.ID{Type: "Customer", Int: medlar}.Global(), "", "customer:Medlar"},
		{"12345678-1234-4234-8234-123456789abc", "", ""},
		{"evt_nothing", "", ""},
	} {
		t.Run(c.text+c.more, func(t *testing.T) {
			if got := found(t, s, root, c.text, c.more); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestSearchFollowsChanges: what is renamed, or gone, is found as it is now and no more as it was.
func TestSearchFollowsChanges(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	made := s.Must(http.StatusOK, http.MethodPost, "/tenant/customer", root, map[string]any{"name": "Quagga Tours", "regionId": 1, "email": "ada@quagga.example", "firstName": "Ada", "lastName": "Okapi"}).ID(t, "id")
	look := func(text, want string) {
		t.Helper()
		if got := found(t, s, root, text, ""); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	look("quagga", "customer:Quagga Tours, user:Ada Okapi<ada@quagga.example>")
	look("okapi", "user:Ada Okapi<ada@quagga.example>")
	s.Must(http.StatusNoContent, http.MethodPut, "/tenant", root, map[string]any{"customerId": made, "name": "Zebra Tours"})
	look("zebra", "customer:Zebra Tours")
	look("quagga", "user:Ada Okapi<ada@quagga.example>")
	// A person is found by what is known of it: until it accepts, by what was entered.
	user := s.Number(`SELECT user_id FROM memberships WHERE customer_id = $1`, made)
	s.SQL(`UPDATE users SET first_name = 'Augusta', last_name = 'Bongo' WHERE id = $1`, user)
	look("bongo", "")
	s.SQL(`UPDATE memberships SET accepted_at = now() WHERE user_id = $1`, user)
	look("bongo", "user:Augusta Bongo<ada@quagga.example>")
	look("okapi", "")
	s.SQL(`DELETE FROM memberships WHERE user_id = $1`, user)
	look("bongo", "")
}

// TestSearchReaches: nobody finds what they could not list, by its name, what is near, or its id.
func TestSearchReaches(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta := s.As("Alpine Energy", "greta@alpine.example")
	coral := s.Customer("Coral Ports")
	for _, text := range []string{"Coral Ports", "coral", "Corla Ports", "minh@coral-ports.example", platform.Decimal(coral), globalid.ID{Type: "Customer", Int: coral}.Global()} {
		for _, row := range strings.Split(found(t, s, greta, text, "&first=50"), ", ") {
			if strings.Contains(strings.ToLower(row), "coral") {
				t.Errorf("%q finds %s", text, row)
			}
		}
	}
	if got := found(t, s, greta, "alpine hydro", "&types=customer"); got != "customer:Alpine Hydro" {
		t.Errorf("the own ones: %s", got)
	}
	// What another kind of token may list is not found by this one.
	assistant := s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "assistant")
	if got := found(t, s, assistant, "alpine hydro", "&types=customer,user"); got != "" {
		t.Errorf("a token for contexts finds %s", got)
	}
}

// TestFiltersSearch: lists search as the box does, page by page and in any order.
func TestFiltersSearch(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, top := s.Root(), orchard(s)
	for i := range 12 {
		s.SQL(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, $2, 1)`, top, fmt.Sprintf("Plumtree %d", 12-i))
	}
	for path, want := range map[string]string{
		"/tenant/customers/{c}?search=plumtree&orderBy=-id": "Plumtree 1,Plumtree 2,Plumtree 3,Plumtree 4,Plumtree 5,Plumtree 6,Plumtree 7,Plumtree 8,Plumtree 9,Plumtree 10,Plumtree 11,Plumtree 12",
		"/tenant/customers/{c}?search=1+plumtree":           "Plumtree 1",
		"/tenant/customers/{c}?search=plumtree+1":           "Plumtree 12,Plumtree 11,Plumtree 10,Plumtree 1",
		"/tenant/customers/{c}?search=plumtrea&orderBy=id":  "Plumtree 12,Plumtree 11,Plumtree 10,Plumtree 9,Plumtree 8,Plumtree 7,Plumtree 6,Plumtree 5,Plumtree 4,Plumtree 3,Plumtree 2,Plumtree 1",
		"/tenant/customers/{c}?search=apple&level=3":        "Apple",
		"/tenant/customers/{c}?search=aple&level=4":         "",
	} {
		if got := strings.Join(byREST(t, s, root, strings.Replace(path, "{c}", platform.Decimal(top), 1), "name"), ","); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := strings.Join(byREST(t, s, root, fmt.Sprintf("/tenant/users/%d?subtree=true&search=zoe&orderBy=-email", top), "email"), " "); got != "zoe@quince.example zoe@pear.example zoe@medlar.example zoe@apple.example" {
		t.Errorf("users: %s", got)
	}
	// What hangs from rows is searched below each of them.
	data := s.MustGQL(root, `query($c: ID) { customer(id: $c) { children(filter: {search: "aple"}) { totalCount nodes { name users(filter: {search: "zo"}) { totalCount nodes { email } } } }
		descendants(filter: {search: "medler"}, orderBy: [{field: NAME}]) { totalCount nodes { name } } } }`, map[string]any{"c": top})
	if got := fmt.Sprint(platform.Member(t, data, "customer.children.nodes"), platform.Member(t, data, "customer.descendants.nodes")); !strings.Contains(got, "Apple") || !strings.Contains(got, "zoe@apple.example") || !strings.Contains(got, "Medlar") || strings.Contains(got, "bob") {
		t.Errorf("below a company: %s", got)
	}
}

// TestSearchRefuses: what can't be looked for is a 400 that names it, at both doors.
func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	for _, text := range []string{"", " ", "%%%", "*", "_", "'", `\`, "a\x00b", "a\x1bb", "\u202e", strings.Repeat("a", 201), strings.Repeat("a ", 10_000)} {
		s.Must(http.StatusBadRequest, http.MethodGet, "/tenant/search?text="+url.QueryEscape(text), root, nil)
		s.Refused(t, "BAD_REQUEST", root, `query($t: String!) { search(text: $t) { __typename } }`, map[string]any{"t": text})
		s.Refused(t, "BAD_REQUEST", root, `query($t: String!) { customers(filter: {search: $t}) { nodes { id } } }`, map[string]any{"t": text})
	}
	for _, query := range []string{"", "text=a&first=0", "text=a&first=51", "text=a&types=permission", "text=a&types=CUSTOMER"} {
		s.Must(http.StatusBadRequest, http.MethodGet, "/tenant/search?"+query, root, nil)
	}
	for _, text := range []string{"a", "1", strings.Repeat("a", 200), strings.TrimSpace(strings.Repeat("abcd ", 40)), "'a' & !b | c:*", "é", "🙂"} {
		s.Must(http.StatusOK, http.MethodGet, "/tenant/search?text="+url.QueryEscape(text), root, nil)
	}
}

// TestSignsAreWords: what is neither a letter nor punctuation is a word as any, at both doors: names are found by it, and nothing is where no name has it.
func TestSignsAreWords(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	s.SQL(`INSERT INTO customers (parent_id, name, region_id) VALUES (1, 'Rocket 🚀 Works', 1)`)
	for text, want := range map[string]string{"😀": "", "🚀": "Rocket 🚀 Works", "rocket 🚀": "Rocket 🚀 Works", "🚀 works": "Rocket 🚀 Works", "rocket 😀": ""} {
		if got := strings.Join(byREST(t, s, root, "/tenant/customers?search="+url.QueryEscape(text), "name"), ","); got != want {
			t.Errorf("a list by REST finds %q by %s", got, text)
		}
		if got := strings.Join(byREST(t, s, root, "/tenant/search?text="+url.QueryEscape(text), "name"), ","); got != want {
			t.Errorf("the box by REST finds %q by %s", got, text)
		}
		data := s.MustGQL(root, `query($t: String!) { customers(filter: {search: $t}) { totalCount nodes { name } } search(text: $t) { ... on Customer { name } } }`, map[string]any{"t": text})
		found := fmt.Sprint(platform.Member(t, data, "customers.nodes"), platform.Member(t, data, "search"))
		if n := platform.Member(t, data, "customers.totalCount"); strings.Count(found, "🚀") != 2*strings.Count(want, "🚀") || strings.Count(found, "name") != strings.Count(found, "🚀") || n != float64(strings.Count(want, "🚀")) {
			t.Errorf("the graph finds %s, %v, by %s", found, n, text)
		}
	}
}

// TestSearchAsksAsOften: what is found changes nothing in the number of statements, nor does a text of many words.
func TestSearchAsksAsOften(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, top := s.Root(), orchard(s)
	count := func(text string) int64 {
		path := "/tenant/search?first=50&text=" + url.QueryEscape(text)
		s.Must(http.StatusOK, http.MethodGet, path, root, nil)
		return s.Statements(func() { s.Must(http.StatusOK, http.MethodGet, path, root, nil) })
	}
	s.SQL(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, 'Plumtree', 1)`, top)
	few := count("plumtree")
	s.SQL(`INSERT INTO customers (parent_id, name, region_id) SELECT $1, 'Plumtree ' || n, 1 FROM generate_series(1, 40) n`, top)
	if many := count("plumtree"); many > few {
		t.Errorf("%d statements where there was one, %d for 41", few, many)
	}
	if one, ten := count("granite"), count(strings.Repeat("granite ", 10)); ten > one {
		t.Errorf("%d statements for a word, %d for ten", one, ten)
	}
}
