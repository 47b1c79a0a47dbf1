package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	canopy "canopy/clients/go"
	"canopy/internal/webhook"
)

// TestEndings: a request that failed otherwise than by 503 or with the place that is away is a fault, also where others of its errors have one.
func TestEndings(t *testing.T) {
	graph := func(extensions ...string) error {
		var all canopy.Errors
		for _, e := range extensions {
			var one canopy.Error
			if err := json.Unmarshal([]byte(`{"extensions":`+e+`}`), &one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		return all
	}
	const away, gone, wrong = `{"code":"UNAVAILABLE","region":"home"}`, `{"code":"UNAVAILABLE"}`, `{"code":"NOT_FOUND"}`
	for i, c := range []struct {
		err  error
		want int
	}{
		{nil, answered},
		{&canopy.Refusal{Status: 503}, unavailable},
		{&canopy.Refusal{Status: 502}, cut},
		{&canopy.Refusal{Status: 504}, cut},
		{&canopy.Refusal{Status: 401}, faulty},
		{&canopy.Refusal{Status: 500}, faulty},
		{io.ErrUnexpectedEOF, cut},
		{graph(away), elsewhere},
		{graph(away, away), elsewhere},
		{graph(gone), unavailable},
		{graph(away, gone), unavailable},
		{graph(away, wrong), faulty},
	} {
		if got := ending(c.err); got != c.want {
			t.Errorf("%d: %v is %d", i, c.err, got)
		}
	}
}

// TestScore: what goes without an answer is a fault where no process of the door was killed meanwhile, and any failure is where the blow spares the company.
func TestScore(t *testing.T) {
	calm := &blow{name: "calm", spared: []string{"home", region}}
	killed := &blow{name: "killed", cutAt: []string{"home"}, spared: []string{region}}
	own := func(door string) task { return task{name: "own at " + door, own: true, door: door} }
	hop := func(door string) task { return task{name: "hop at " + door, door: door} }
	for i, c := range []struct {
		before, after *blow
		one           task
		err           error
		faults        int
	}{
		{calm, calm, own("home"), nil, 0},
		{calm, calm, own("home"), &canopy.Refusal{Status: 503}, 1},
		{calm, calm, hop("home"), &canopy.Refusal{Status: 503}, 0},
		{calm, calm, hop("home"), io.ErrUnexpectedEOF, 1},
		{killed, killed, hop("home"), io.ErrUnexpectedEOF, 0},
		{calm, killed, own("home"), io.ErrUnexpectedEOF, 0},
		{killed, calm, own("home"), io.ErrUnexpectedEOF, 0},
		{killed, killed, own(region), &canopy.Refusal{Status: 503}, 1},
		{killed, killed, hop(region), io.ErrUnexpectedEOF, 1},
		{killed, killed, hop(region), errors.New("anything"), 1},
		{killed, killed, hop("home"), &canopy.Refusal{Status: 500}, 1},
	} {
		s := score{blow: c.after}
		s.note(c.one, c.before, time.Unix(5, 0), c.err)
		if len(s.faults) != c.faults {
			t.Errorf("%d: %v", i, s.faults)
		}
		if missing := s.since([]task{c.one}, time.Unix(4, 0)); (len(missing) == 0) != (c.err == nil) {
			t.Errorf("%d: missing are %v", i, missing)
		}
	}
}

// TestReceiversLookAtSignatures of the destinations whose secrets they know.
func TestReceiversLookAtSignatures(t *testing.T) {
	r := newReceivers(1)
	r.secrets = map[string]string{"home": "whsec_x"}
	body := []byte(`{"id":"1","type":"run.completed","data":{"jobKey":"k"}}`)
	for who, secret := range map[string]string{"home": "whsec_y", "other": "whsec_y"} {
		header := http.Header{}
		webhook.SetHeaders(header, "run.completed", body, secret, "")
		r.hear(who, header, body)
	}
	if r.heard["home"]["1"].Unsigned != 1 || r.heard["other"]["1"].Unsigned != 0 {
		t.Errorf("heard: %+v, %+v", r.heard["home"]["1"], r.heard["other"]["1"])
	}
	header := http.Header{}
	webhook.SetHeaders(header, "run.completed", body, "whsec_x", "")
	if r.hear("home", header, body); r.heard["home"]["1"].Unsigned != 1 {
		t.Error("a right signature is not taken")
	}
}

// TestMarks finds a mark in a dump as text, and as the bytes of what is stored so.
func TestMarks(t *testing.T) {
	dump := fmt.Appendf(nil, `INSERT INTO a VALUES ('see eastbound1', '\x%x')`, "an eastbound1 too")
	if n := marks(dump, "eastbound1"); n != 2 || marks(dump, "homebound1") != 0 {
		t.Errorf("%d in %s", n, strings.TrimSpace(string(dump)))
	}
}

// TestDealt: words choose blows by their names, in the order of all; one that no blow has is refused.
func TestDealt(t *testing.T) {
	names := func(words ...string) (list []string) {
		for _, b := range (&cells{o: cellsOptions{only: words}}).dealt() {
			list = append(list, b.name)
		}
		return list
	}
	all := names()
	if len(all) < 14 || !slices.Contains(all, upgraded) {
		t.Errorf("all are %q", all)
	}
	if got := names("promoted", "upgraded"); !slices.Equal(got, []string{upgraded, "the cell's standby promoted", "the home's standby promoted"}) {
		t.Errorf("chosen are %q", got)
	}
	for word, known := range map[string]bool{"promoted": true, "nonesuch": false} {
		if err := (&cells{o: cellsOptions{only: []string{"none", word}}}).known(); (err == nil) != known {
			t.Errorf("%s: %v", word, err)
		}
	}
}
