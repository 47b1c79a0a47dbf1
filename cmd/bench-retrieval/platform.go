package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	canopy "canopy/clients/go"
	"canopy/internal/access"
	"canopy/internal/devstack"
	"canopy/search"
)

// The patience with a platform that starts, and with one that processes documents.
const (
	startTime   = 2 * time.Minute
	processTime = 30 * time.Minute
	uploaders   = 4
)

// platform is a canopy dev with a folder of its own.
type platform struct {
	canopy.Client
	cmd    *exec.Cmd
	exited chan error
	dir    string
}

// start starts the platform and waits until it can be asked.
func start(ctx context.Context, binary string) (*platform, error) {
	dir, err := os.MkdirTemp("", "canopy-bench-retrieval-")
	if err != nil {
		return nil, err
	}
	address, err := devstack.FreeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p := &platform{dir: dir, exited: make(chan error, 1)}
	p.URL, p.App = "http://"+address, access.Assistant.String()
	p.cmd = exec.Command(binary, "dev", "--data", filepath.Join(dir, "data"))
	p.cmd.Env = append(os.Environ(), "CANOPY_LISTEN="+address, "CANOPY_RATE_LIMIT=0", "CANOPY_COST_LIMIT=0",
		"DATABASE_URL=", "REDIS_URL=", "CANOPY_BLOB_URL=")
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.exited <- p.cmd.Wait() }()
	if err := p.ready(ctx); err != nil {
		said, _ := os.ReadFile(log.Name())
		p.stop()
		return nil, fmt.Errorf("%w\n%s", err, said)
	}
	return p, nil
}

func (p *platform) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.exited
	_ = os.RemoveAll(p.dir)
}

// ready waits until the demo key gives a token.
func (p *platform) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for p.login(ctx) != nil {
		select {
		case err := <-p.exited:
			p.exited <- err
			return errors.Join(errors.New("canopy dev ended"), err)
		case <-ctx.Done():
			return errors.New("canopy dev does not get ready")
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

func (p *platform) login(ctx context.Context) (err error) {
	if _, p.Key, err = canopy.ReadKeyFile(filepath.Join(p.dir, "data", "dev.json")); err == nil {
		_, err = p.Token(ctx)
	}
	return err
}

// searcher searches an indexed collection.
type searcher struct {
	p         *platform
	context   int64
	model     string
	chunks    int
	documents map[int64]int // the collection's id of a document
}

// index uploads a collection and waits until it can be searched. chunk is the size of chunks of documents under headings, which don't overlap; 0 for plain ones.
func (p *platform) index(ctx context.Context, documents []entry, chunk int, model string) (*searcher, error) {
	var made struct {
		ID             int64
		EmbeddingModel string
	}
	err := p.Call(ctx, http.MethodPost, "/context", map[string]any{
		"name": "Collection", "description": "", "caption": "", "toolsJson": "[]", "starterPrompts": []string{},
	}, &made)
	if err != nil {
		return nil, err
	}
	// As many hits as there can be, so that ten different documents are among them.
	err = p.GraphQL(ctx, `mutation($id: ID!) { updateContext(input: {id: $id, topN: 100}) { context { topN } } }`, map[string]any{"id": made.ID}, nil)
	if err != nil {
		return nil, err
	}
	if chunk > 0 {
		err = p.GraphQL(ctx, `mutation($id: ID!, $n: Int!) { updateContext(input: {id: $id, chunkSize: $n, overlap: 0}) { context { chunkSize } } }`, map[string]any{"id": made.ID, "n": chunk}, nil)
		if err != nil {
			return nil, err
		}
	}
	if model != "" {
		err = p.GraphQL(ctx, `mutation($id: ID!, $m: String!) { updateContext(input: {id: $id, embeddingModel: $m}) { context { embeddingModel } } }`, map[string]any{"id": made.ID, "m": model}, nil)
		if err != nil {
			return nil, err
		}
		made.EmbeddingModel = model
	}
	group, uploading := errgroup.WithContext(ctx)
	group.SetLimit(uploaders)
	for _, d := range documents {
		group.Go(func() error { return p.upload(uploading, made.ID, d, chunk > 0) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s := &searcher{p: p, context: made.ID, model: made.EmbeddingModel}
	return s, s.wait(ctx, len(documents))
}

func (p *platform) upload(ctx context.Context, contextID int64, d entry, headed bool) error {
	text, ending := d.Text, ".txt"
	if headed {
		text, ending = d.markdown(), ".md"
	}
	if strings.TrimSpace(text) == "" {
		text = "(empty)" // the collection has a document without text, and an upload must have some
	}
	return p.Upload(ctx, contextID, strconv.Itoa(d.ID)+ending, strings.NewReader(text))
}

// wait waits until all documents are ready.
func (s *searcher) wait(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, processTime)
	defer cancel()
	for {
		var list []struct {
			ID           int64
			OriginalName string
			Status       string
			Chunks       int
			Error        *string
		}
		if err := s.p.Call(ctx, http.MethodGet, fmt.Sprintf("/context/documents/%d", s.context), nil, &list); err != nil {
			return err
		}
		ready := 0
		s.documents, s.chunks = map[int64]int{}, 0
		for _, d := range list {
			switch d.Status {
			case "failed":
				return fmt.Errorf("%s failed: %s", d.OriginalName, *d.Error)
			case "ready":
				ready++
			}
			id, err := strconv.Atoi(strings.TrimSuffix(d.OriginalName, path.Ext(d.OriginalName)))
			if err != nil {
				return err
			}
			s.documents[d.ID] = id
			s.chunks += d.Chunks
		}
		if ready == n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d documents are ready: %w", ready, n, ctx.Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// search ranks the collection's documents for a query.
func (s *searcher) search(ctx context.Context, query string, mode search.Mode) ([]int, error) {
	var hits []struct {
		DocID      int64
		Similarity float64
	}
	if err := s.p.Call(ctx, http.MethodPost, fmt.Sprintf("/context/relevant-docs/%d", s.context), map[string]any{"prompt": query, "mode": mode}, &hits); err != nil {
		return nil, err
	}
	var ranked []int
	for _, h := range hits {
		ranked = append(ranked, s.documents[h.DocID])
	}
	return bestChunks(ranked), nil
}
