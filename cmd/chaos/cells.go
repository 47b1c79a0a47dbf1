package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	canopy "canopy/clients/go"
	"canopy/internal/access"
	"canopy/internal/devstack"
	"canopy/internal/devstack/cluster"
	"canopy/internal/webhook"
)

// region is the one that has a cell of its own.
const region = "us-east"

// owner is a company with what it has in its cell, and what the platform has acknowledged to it.
type owner struct {
	// name is that of the cell it lives in, mark is in all that it writes.
	name, mark string
	key        canopy.Key
	company    int64
	context    int64
	agent      int64
	target     int64
	cell       *cluster.Cluster

	mu       sync.Mutex
	uploaded map[string]string // a document's name → a word in it alone
	started  map[string]bool   // keys of runs
	renamed  []string          // names that it has given a company
}

// cells is a trial of two of them.
type cells struct {
	o       cellsOptions
	dir     string
	from    string // what they are upgraded from, if they are
	home    *cluster.Cluster
	owners  []*owner
	ways    map[string]*devstack.Way // by what they lead to
	heard   *receivers
	hookURL string
	endHook context.CancelFunc
	hooks   sync.WaitGroup
	score   score
	http    *http.Client
}

func newCells(ctx context.Context, o cellsOptions) (t *cells, err error) {
	// Longer than a cell waits for another's answer.
	t = &cells{o: o, heard: newReceivers(o.seed), http: &http.Client{Timeout: 90 * time.Second}}
	t.heard.secrets, t.ways = map[string]string{}, map[string]*devstack.Way{}
	if t.dir, err = os.MkdirTemp("", "canopy-chaos-"); err != nil {
		return nil, err
	}
	certificate := filepath.Join(t.dir, "receiver.pem")
	if err := t.receive(certificate); err != nil {
		return t, err
	}
	first, err := t.first(ctx)
	if err != nil {
		return t, err
	}
	t.home, err = cluster.Start(ctx, cluster.Options{
		Canopy: first, Balancer: o.balancer, Region: region, Synchronous: true, Way: t.way, Log: slog.New(slog.DiscardHandler),
		Env: []string{"CANOPY_RATE_LIMIT=0", "CANOPY_MAX_COST=0", "CANOPY_COST_LIMIT=0", "CANOPY_WEBHOOK_ALLOW=127.0.0.0/8", "CANOPY_WEBHOOK_CA=" + certificate},
	})
	if err != nil {
		return t, err
	}
	return t, t.furnish(ctx)
}

// way is what goes from one cell to another, and can be cut.
func (t *cells) way(address string) (string, error) {
	w, err := devstack.OpenWay(address)
	if err != nil {
		return "", err
	}
	t.ways[address] = w
	return w.Address(), nil
}

// receive listens for deliveries until close.
func (t *cells) receive(certificate string) error {
	ctx, end := context.WithCancel(context.Background())
	ready, failed := make(chan string, 1), make(chan error, 1)
	t.endHook = end
	t.hooks.Go(func() {
		failed <- webhook.Listen(ctx, webhook.ListenOptions{Certificate: certificate, Handler: t.heard, Ready: func(l webhook.Listening) { ready <- l.URL }})
	})
	select {
	case url := <-ready:
		t.hookURL = strings.TrimSuffix(url, "/")
		return nil
	case err := <-failed:
		return err
	}
}

// furnish makes what each company begins with, at the address of its cell.
func (t *cells) furnish(ctx context.Context) error {
	east, err := t.home.NewCompany(ctx, region, "East", "east@example.com")
	if err != nil {
		return err
	}
	t.owners = []*owner{
		{name: "home", mark: fmt.Sprintf("homebound%d", t.o.seed), key: canopy.PrintedKey(t.home.Key), company: 1, cell: t.home},
		{name: region, mark: fmt.Sprintf("eastbound%d", t.o.seed), key: canopy.PrintedKey(east.Key), company: east.ID, cell: t.home.Cell},
	}
	for _, w := range t.owners {
		w.uploaded, w.started = map[string]string{}, map[string]bool{}
		if err := t.furnishOne(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

func (t *cells) furnishOne(ctx context.Context, w *owner) error {
	c := t.caller(w.cell, w)
	var target struct {
		ID     int64
		Secret string
	}
	if err := c.builder.Call(ctx, "POST", "/v1/outbound-webhooks/destinations", map[string]any{"url": t.hookURL + "/" + w.name, "name": w.mark}, &target); err != nil {
		return err
	}
	t.heard.mu.Lock()
	t.heard.secrets[w.name] = target.Secret
	t.heard.mu.Unlock()
	w.target = target.ID
	var made struct{ ID int64 }
	if err := c.assistant.Call(ctx, "POST", "/context", map[string]any{"name": w.mark, "description": "", "caption": "", "toolsJson": "[]"}, &made); err != nil {
		return err
	}
	w.context = made.ID
	var err error
	w.agent, err = publish(ctx, c.builder, w.mark, json.RawMessage(fmt.Sprintf(slowDiagram, t.hookURL)))
	return err
}

// caller is a company's key at a cell's address.
type caller struct {
	door                       *cluster.Cluster
	who                        *owner
	tenant, assistant, builder *canopy.Client
}

func (t *cells) caller(door *cluster.Cluster, w *owner) *caller {
	as := func(app access.App) *canopy.Client {
		return &canopy.Client{URL: door.URL, Key: w.key, App: app.String(), HTTP: t.http}
	}
	return &caller{door: door, who: w, tenant: as(access.Tenant), assistant: as(access.Assistant), builder: as(access.Builder)}
}

// logFiles are those of a cell's programs.
func (w *owner) logFiles() []string {
	list, _ := filepath.Glob(filepath.Join(w.cell.Logs(), "*.log")) // the pattern is right
	return list
}

func (t *cells) logsOf(w *owner) (all []byte, err error) {
	for _, file := range w.logFiles() {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	return all, nil
}

// close ends every process, and gives the folder with the logs where something went wrong.
func (t *cells) close(failed bool) (kept string) {
	for _, w := range t.ways {
		w.Mend()
	}
	if failed && len(t.owners) > 0 {
		kept = t.dir
		for _, w := range t.owners {
			for _, log := range w.logFiles() {
				_ = os.Rename(log, filepath.Join(t.dir, w.name+"-"+filepath.Base(log)))
			}
		}
	}
	if t.home != nil {
		t.home.Stop()
	}
	for _, w := range t.ways {
		w.Close()
	}
	if t.endHook != nil {
		t.endHook()
		t.hooks.Wait()
	}
	_ = os.RemoveAll(t.earlierDir())
	if kept == "" {
		_ = os.RemoveAll(t.dir)
	}
	return kept
}

// located tells whether an error of GraphQL says whose cell does not answer.
func located(err error) bool {
	var all canopy.Errors
	if !errors.As(err, &all) {
		return false
	}
	for _, e := range all {
		if e.Extensions.Region == "" {
			return false
		}
	}
	return true
}
