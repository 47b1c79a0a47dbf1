package main

import (
	"bufio"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"canopy/db"
	"canopy/internal/access"
)

// peerFiles are small servers around the peers that npm gives, and which versions of these.
//
//go:embed peers
var peerFiles embed.FS

// rounds is how often the platform and a peer take turns. What counts is the median of their ratios: whatever else the
// machine does, it does to both.
const rounds = 5

// contest is one question to the platform and to a peer.
type contest struct {
	name string
	// conns is how many connections ask at the same time.
	conns  int
	ours   call
	app    access.App
	peer   *child
	theirs call
}

// score is what came of a contest.
type score struct {
	name         string
	ours, theirs result
	ratio        float64
}

// peers measures the platform beside peers on the same data, in turns.
func (b *bencher) peers() ([]score, error) {
	dir, err := b.install()
	if err != nil {
		return nil, err
	}
	var list []contest
	var started []*child
	defer func() {
		for _, c := range started {
			_ = c.stop()
		}
	}()
	for _, begin := range []func(dir string) (*child, []contest, error){b.postgraphile, b.provider} {
		peer, contests, err := begin(dir)
		if err != nil {
			return nil, err
		}
		started, list = append(started, peer), append(list, contests...)
	}
	engines, contests, err := b.engines(dir)
	started, list = append(started, engines...), append(list, contests...)
	if err != nil {
		return nil, err
	}
	var scores []score
	for _, c := range list {
		s, err := b.take(c)
		if err != nil {
			return scores, err
		}
		scores = append(scores, s)
	}
	return scores, b.failed
}

// install puts the peers' packages into a folder.
func (b *bencher) install() (string, error) {
	dir := filepath.Join(b.lab.dir, "peers")
	files, err := fs.Sub(peerFiles, "peers")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(b.ctx, "npm", "ci", "--no-audit", "--no-fund", "--loglevel", "error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the peers can't be installed, which takes Node.js, npm and its registry: %w: %s", err, out)
	}
	return dir, nil
}

// postgraphile asks PostGraphile for the same rows of the same database. It would call the tables cell and cells alike, and does not start then: the first one, which has no row here, is left out.
func (b *bencher) postgraphile(dir string) (*child, []contest, error) {
	pool, err := db.Connect(b.lab.postgres.URL(), db.Options{MaxConns: 1})
	if err != nil {
		return nil, nil, err
	}
	_, err = pool.ExecContext(b.ctx, `COMMENT ON TABLE cell IS '@omit'`)
	if err := errors.Join(err, pool.Close()); err != nil {
		return nil, nil, err
	}
	address := "http://{address}/graphql?query=%7B__typename%7D"
	peer, err := b.lab.start(address, []string{"NODE_ENV=production"}, "sh", "-c",
		`exec "$0" -c "$1" -s public -n "${2%:*}" -p "${2#*:}" --disable-graphiql --disable-query-log >/dev/null`,
		filepath.Join(dir, "node_modules", ".bin", "postgraphile"), b.lab.postgres.URL(), "{address}")
	if err != nil {
		return nil, nil, err
	}
	id := map[string]any{"id": fmt.Sprint(b.wide)}
	return peer, []contest{
		{
			name: "GraphQL company + region, PostGraphile", conns: 8, app: access.Tenant, peer: peer,
			ours:   graphql(`query($id: ID!) { customer(id: $id) { id name regionId createdAt region { id name description } } }`, id),
			theirs: graphql(`query($id: BigInt!) { customerById(id: $id) { id name regionId createdAt regionByRegionId { id name description } } }`, id),
		},
		{
			name: "GraphQL tree 20 × 10 × 3, PostGraphile", conns: 4, app: access.Tenant, peer: peer,
			ours: graphql(treeQuery, id), theirs: graphql(`query($id: BigInt!) { customerById(id: $id) { id name customersByParentId(first: 20) { nodes { id name
				membershipsByCustomerId(first: 10) { nodes { userByUserId { id firstName lastName email permissionsByUserId(first: 3) { nodes { id disabled
				roleByRoleId { id name } accountByAccountId { id name appInstanceByAppInstanceId {
				applicationByApplicationId { id name } regionByRegionId { id name } } } } } } } } } } } }`, id),
		},
	}, nil
}

// provider asks oidc-provider for access tokens, which are JWTs that it signs.
func (b *bencher) provider(dir string) (*child, []contest, error) {
	peer, err := b.lab.start("http://{address}/.well-known/openid-configuration", nil, "env", "PEER_LISTEN={address}", "NODE_ENV=production", "node", filepath.Join(dir, "oidc.mjs"))
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"bench"}, "client_secret": {"bench-secret"}, "scope": {"tenant"}}
	return peer, []contest{{
		name: "token exchange, oidc-provider in memory", conns: 8, app: access.Tenant, peer: peer,
		ours:   call{method: "POST", open: true, path: "/connect/token", contentType: "application/x-www-form-urlencoded", body: b.lab.key.Form("tenant").Encode()},
		theirs: call{method: "POST", open: true, path: "/token", contentType: "application/x-www-form-urlencoded", body: form.Encode()},
	}}, err
}

// engines asks search engines in JavaScript for what the platform finds in the same chunks.
func (b *bencher) engines(dir string) (started []*child, list []contest, err error) {
	at, file, err := b.corpus(dir)
	if err != nil {
		return nil, nil, err
	}
	for name, program := range map[string]string{"MiniSearch": "minisearch.mjs", "Orama": "orama.mjs"} {
		peer, err := b.lab.start("http://{address}/", nil, "env", "PEER_LISTEN={address}", "PEER_CHUNKS="+file, "node", "--max-old-space-size=4096", filepath.Join(dir, program))
		if err != nil {
			return started, list, err
		}
		started = append(started, peer)
		ours := search(at.context)
		list = append(list, contest{
			name: fmt.Sprintf("search in %d chunks, %s", at.chunks, name), conns: 1, app: access.Assistant, peer: peer, ours: ours, theirs: ours,
		})
	}
	slices.SortFunc(list, func(a, b contest) int { return strings.Compare(a.name, b.name) })
	return started, list, nil
}

// corpus fills a context, and writes its chunks to a file for the peers.
func (b *bencher) corpus(dir string) (at filled, file string, err error) {
	worker, err := b.lab.worker()
	if err != nil {
		return at, "", err
	}
	defer func() { err = errors.Join(err, worker.stop()) }()
	if at, err = b.fill(&desk{b.as(access.Assistant, b.lab.platform), b.ctx}, "peers", fewChunks); err != nil {
		return at, "", err
	}
	pool, err := db.Connect(b.lab.postgres.URL(), db.Options{MaxConns: 1})
	if err != nil {
		return at, "", err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	var texts []string
	if err := pool.SelectContext(b.ctx, &texts, `SELECT k.content FROM chunks k JOIN documents d ON d.id = k.document_id WHERE d.context_id = $1 ORDER BY k.id`, at.context); err != nil {
		return at, "", err
	}
	file = filepath.Join(dir, "chunks.jsonl")
	f, err := os.Create(file)
	if err != nil {
		return at, "", err
	}
	w := bufio.NewWriter(f)
	to := json.NewEncoder(w)
	for i, text := range texts {
		err = errors.Join(err, to.Encode(map[string]any{"id": i, "text": text}))
	}
	return at, file, errors.Join(err, w.Flush(), f.Close())
}

// take has the platform and a peer take turns.
func (b *bencher) take(c contest) (score, error) {
	if err := b.newTokenFor(c.app); err != nil {
		return score{}, err
	}
	var ours, theirs []result
	var ratios []float64
	for range rounds {
		o := b.measure(b.lab.platform, c.conns, c.ours)
		t := b.measure(c.peer, c.conns, c.theirs)
		ours, theirs, ratios = append(ours, o), append(theirs, t), append(ratios, o.rate/t.rate)
	}
	return score{name: c.name, ours: middling(ours), theirs: middling(theirs), ratio: median(ratios)}, nil
}

func middling(list []result) result {
	slices.SortFunc(list, func(a, b result) int { return int(a.rate - b.rate) })
	return list[len(list)/2]
}

// scored are the rows of the table.
func scored(scores []score) (rows []row) {
	for _, s := range scores {
		figure := func(r result) string { return fmt.Sprintf("%.0f/s, p99 %s", r.rate, ms(r.p99)) }
		rows = append(rows, row{name: s.name, figure: figure(s.ours), reference: figure(s.theirs), ratio: fmt.Sprintf("%.2f", s.ratio)})
	}
	return rows
}

// besidePeers is the whole run.
func besidePeers(b *bencher) error {
	scores, err := b.peers()
	print(scored(scores))
	if err == nil && b.o.record != "" {
		err = record(b.o.record, b.o.release, scores)
	}
	return err
}
