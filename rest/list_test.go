package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/resolvers"
)

type entry struct {
	ID   int64  `json:"id"`
	Text string `json:"text"`
}

type numbersOf struct {
	CustomerPath
	Paging
}

// numbersDoor lists the numbers from 1 to n, and then fails with err if there is one. It counts
// the entries that were asked for.
func numbersDoor(t testing.TB, n int64, text string, err error) (*httptest.Server, *int64) {
	t.Helper()
	public, perr := url.Parse("https://canopy.test/")
	if perr != nil {
		t.Fatal(perr)
	}
	a, h := open(&resolvers.Resolver{Log: slog.New(slog.DiscardHandler), PublicURL: public}, Options{Version: "1"})
	read := new(int64)
	addList(a, operation{id: "list", path: "/numbers/{cid}", tag: tagUsers, public: true, names: map[string]string{"id": "cid"}}, 1,
		func(_ context.Context, _ *numbersOf, q query, each emit[entry]) error {
			i := int64(1)
			if !q.after.IsZero() {
				i = q.after.Ints()[0] + 1
			}
			for taken := 0; i <= n && (q.limit == 0 || taken < q.limit); i++ {
				*read = i
				if err := each(entry{i, text}, paging.IDs(i)); err != nil {
					return err
				}
				taken++
			}
			return err
		})
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s, read
}

func fetch(t *testing.T, method, address string) (*http.Response, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

func TestListsAreWhole(t *testing.T) {
	for _, n := range []int64{0, 1, 3, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s, _ := numbersDoor(t, n, strings.Repeat("x", 50), nil)
			for range 2 { // the second on the same connection
				resp, body, err := fetch(t, http.MethodGet, s.URL+"/numbers/1")
				var list []entry
				if err != nil || resp.StatusCode != 200 || json.Unmarshal(body, &list) != nil {
					t.Fatalf("%v %v %.80s", err, resp, body)
				}
				if int64(len(list)) != n || (n > 0 && list[n-1].ID != n) {
					t.Errorf("%d entries", len(list))
				}
				if resp.Header.Get("Link") != "" || resp.Header.Get("Content-Type") != jsonType {
					t.Errorf("headers: %v", resp.Header)
				}
			}
		})
	}
}

func TestPagesLeadThroughTheList(t *testing.T) {
	s, _ := numbersDoor(t, 10, "", nil)
	address := s.URL + "/numbers/1?limit=4"
	var sizes []int
	var last int64
	for range 5 {
		resp, body, err := fetch(t, http.MethodGet, address)
		var page []entry
		if err != nil || json.Unmarshal(body, &page) != nil {
			t.Fatalf("%v %s", err, body)
		}
		for _, e := range page {
			if e.ID != last+1 {
				t.Fatalf("%d after %d", e.ID, last)
			}
			last = e.ID
		}
		sizes = append(sizes, len(page))
		link := resp.Header.Get("Link")
		if link == "" {
			break
		}
		next, ok := strings.CutPrefix(link, "<https://canopy.test")
		next, isNext := strings.CutSuffix(next, `>; rel="next"`)
		if !ok || !isNext {
			t.Fatalf("Link: %q", link)
		}
		address = s.URL + next
	}
	if fmt.Sprint(sizes) != "[4 4 2]" {
		t.Errorf("pages of %v", sizes)
	}
	resp, _, err := fetch(t, http.MethodGet, s.URL+"/numbers/1?limit=10")
	if err != nil || resp.Header.Get("Link") != "" {
		t.Errorf("a page that ends with the list leads on: %v", resp.Header)
	}
}

func TestListErrors(t *testing.T) {
	denied := problem.Invalid(problem.Fault{Location: "id", Message: "is odd"})
	t.Run("before the first entry", func(t *testing.T) {
		s, _ := numbersDoor(t, 0, "", denied)
		resp, body, err := fetch(t, http.MethodGet, s.URL+"/numbers/1")
		if err != nil || resp.StatusCode != 400 || !strings.Contains(string(body), `"location":"path.cid"`) {
			t.Errorf("%v %v %s", err, resp, body)
		}
	})
	t.Run("of a parameter that the list does not know", func(t *testing.T) {
		s, _ := numbersDoor(t, 3, "", nil)
		for address, want := range map[string]string{
			"/numbers/1?serach=x":         `"location":"query.serach","message":"is none of this list's parameters: after, limit"`,
			"/numbers/1?limit=2&Limit=3":  `"location":"query.Limit"`,
			"/numbers/1?limit=2&limit=3":  `"is there more than once"`,
			"/numbers/1?filter%5Bid%5D=3": `"location":"query.filter[id]"`,
		} {
			resp, body, err := fetch(t, http.MethodGet, s.URL+address)
			if err != nil || resp.StatusCode != 400 || !strings.Contains(string(body), want) {
				t.Errorf("%s: %v %v %s", address, err, resp, body)
			}
		}
	})
	t.Run("before anything was sent", func(t *testing.T) {
		s, _ := numbersDoor(t, 3, "", problem.Away("the database", nil))
		resp, _, err := fetch(t, http.MethodGet, s.URL+"/numbers/1")
		if err != nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%v %v", err, resp)
		}
	})
	t.Run("in the middle", func(t *testing.T) {
		s, _ := numbersDoor(t, 5000, strings.Repeat("x", 50), errors.New("the connection is gone"))
		if _, body, err := fetch(t, http.MethodGet, s.URL+"/numbers/1"); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the cut list looks whole: %v, %d bytes", err, len(body))
		}
	})
}

func TestListParameters(t *testing.T) {
	s, _ := numbersDoor(t, 3, "", nil)
	for query, location := range map[string]string{
		"limit=0": "query.limit", "limit=1001": "query.limit", "limit=x": "query.limit", "limit=-1": "query.limit",
		"limit=1&limit=2": "query.limit", "after=x": "query.after", "after=" + paging.IDs(1, 2).String(): "query.after",
	} {
		t.Run(query, func(t *testing.T) {
			resp, body, err := fetch(t, http.MethodGet, s.URL+"/numbers/1?"+query)
			if err != nil || resp.StatusCode != 400 || !strings.Contains(string(body), `"location":"`+location+`"`) {
				t.Errorf("%v %v %s", err, resp, body)
			}
		})
	}
	resp, body, err := fetch(t, http.MethodGet, s.URL+"/numbers/9223372036854775808")
	if err != nil || resp.StatusCode != 400 || !strings.Contains(string(body), `"location":"path.cid"`) {
		t.Errorf("%v %v %s", err, resp, body)
	}
}

// The server needs no more of a list than its first entry to know the answer's headers.
func TestHeadReadsNoList(t *testing.T) {
	s, read := numbersDoor(t, 5000, "", nil)
	resp, body, err := fetch(t, http.MethodHead, s.URL+"/numbers/1")
	if err != nil || resp.StatusCode != 200 || len(body) != 0 || resp.Header.Get("Content-Type") != jsonType {
		t.Errorf("%v %v", err, resp)
	}
	if *read != 1 {
		t.Errorf("%d entries were read", *read)
	}
	resp, _, err = fetch(t, http.MethodHead, s.URL+"/numbers/1?limit=2")
	if err != nil || !strings.Contains(resp.Header.Get("Link"), `rel="next"`) {
		t.Errorf("%v %v", err, resp)
	}
}

// The memory that a list takes does not grow with it: what is held never exceeds one chunk and
// one entry.
func TestListsAreNotHeld(t *testing.T) {
	l := &listWriter{w: httptest.NewRecorder()}
	for i := range int64(10_000) {
		if err := l.add(entry{i, strings.Repeat("x", 100)}, paging.IDs(i)); err != nil {
			t.Fatal(err)
		}
		if l.buf.Len() >= chunkSize {
			t.Fatalf("%d bytes are held after entry %d", l.buf.Len(), i)
		}
	}
}

func TestSelfTakesItsSixWordsOnly(t *testing.T) {
	a, h := open(&resolvers.Resolver{Log: slog.New(slog.DiscardHandler)}, Options{Version: "1"})
	addList(a, operation{id: "list", orders: db.Customers, path: "/list", tag: tagUsers, public: true}, 1,
		func(_ context.Context, in *listOwnCustomers, _ query, each emit[bool]) error {
			return each(in.self(), paging.IDs(1))
		})
	for query, want := range map[string]string{
		"": "[false]", "self=true": "[true]", "self=1": "[true]", "self=include": "[true]",
		"self=false": "[false]", "self=0": "[false]", "self=exclude": "[false]",
		"self=": "", "self=TRUE": "", "self=yes": "", "self=true&self=false": "", "self=%20true": "",
	} {
		t.Run(query, func(t *testing.T) {
			w, p := send(t, h, http.MethodGet, "/list?"+query, "", "")
			switch {
			case want != "" && (w.Code != 200 || w.Body.String() != want):
				t.Errorf("%d %s", w.Code, w.Body)
			case want == "" && (w.Code != 400 || len(p.Errors) != 1 || p.Errors[0].Location != "query.self"):
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}
