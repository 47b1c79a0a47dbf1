// Package monitoring serves asynqmon, the dashboard of the task queues, as pages that load nothing
// from anywhere else: under a policy of their own, and without the fonts that it would fetch from
// another host.
package monitoring

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"

	"canopy/internal/web"
)

// Root is the path under which the dashboard is served.
const Root = "/monitoring"

// Handler serves the dashboard of the queues under Root. Who may see it is the caller's business.
func Handler(queues asynq.RedisConnOpt) (http.Handler, error) {
	ui := asynqmon.New(asynqmon.Options{RootPath: Root, RedisConnOpt: queues, ResultFormatter: asynqmon.ResultFormatterFunc(result)})
	index, policy, err := page(ui)
	if err != nil {
		return nil, err
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		// All of its pages are one file, which the browser asks for by whatever page it is at.
		if strings.HasPrefix(r.URL.Path, Root+"/api/") || path.Ext(r.URL.Path) != "" {
			ui.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(index) // the reader has gone, if anything
	}
	return web.SecureHeaders(policy)(http.HandlerFunc(serve)), nil
}

// result is what a page shows of a task that has ended: the words of its handler. What came of
// it in full is in the database.
func result(typ string, raw []byte) string {
	if len(raw) == 0 {
		return "recorded in the row that the payload names"
	}
	return asynqmon.DefaultResultFormatter(typ, raw)
}

var (
	foreign = regexp.MustCompile(`<link [^>]*href="https?://[^>]*>`)
	inline  = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
)

// page gives the file of asynqmon's pages without what it loads from other hosts, and a policy that
// lets its two inline scripts run, by their hashes. Its widgets write styles as they are shown.
func page(ui http.Handler) ([]byte, web.Policy, error) {
	r, err := http.NewRequest(http.MethodGet, Root+"/", nil)
	if err != nil {
		return nil, web.Policy{}, err
	}
	var got recorder
	ui.ServeHTTP(&got, r)
	index := foreign.ReplaceAll(got.Bytes(), nil)
	policy := web.Policy{Style: []string{"'unsafe-inline'"}, Image: []string{"data:"}}
	for _, script := range inline.FindAllSubmatch(index, -1) {
		sum := sha256.Sum256(script[1])
		policy.Script = append(policy.Script, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	if len(policy.Script) == 0 {
		return nil, web.Policy{}, fmt.Errorf("monitoring: asynqmon's page is not as expected: %.100s", index)
	}
	return index, policy, nil
}

// recorder keeps an answer's body.
type recorder struct {
	bytes.Buffer
	header http.Header
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

func (r *recorder) WriteHeader(int) {}
