package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// traced measures what telemetry costs: each call in turns with a server of the same program that tells a collector of every request. The collector
// takes what comes, and counts it.
func (b *bencher) traced() (rows []row, err error) {
	const name = "every request traced"
	if !slices.ContainsFunc(b.usual(), func(c contest) bool { return strings.Contains(name+": "+c.name, b.o.only) }) {
		return nil, nil
	}
	collector, err := b.lab.start(healthz, nil, b.lab.self, "-collector", "{address}")
	if err != nil {
		return nil, err
	}
	defer func() { _ = collector.stop() }()
	return b.inTurns(name, "≥ 0.95", b.lab.binary, collector, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.url)
}

// beside measures another program of the same schema in turns with the one that is measured.
func (b *bencher) beside() ([]row, error) {
	return b.inTurns("beside "+b.o.beside, "", b.o.beside, nil)
}

// inTurns measures a second server in turns with the platform: its ratio is what it does of the platform's rate.
func (b *bencher) inTurns(name, wanted, program string, collector *child, env ...string) (rows []row, err error) {
	second, err := b.lab.start(healthz, append(env, "CANOPY_PUBLIC_URL="+b.lab.platform.url), program, "serve")
	if err != nil {
		return nil, err
	}
	defer func() { _ = second.stop() }()
	for _, c := range b.usual() {
		if !strings.Contains(name+": "+c.name, b.o.only) {
			continue
		}
		if err := b.newTokenFor(c.app); err != nil {
			return rows, err
		}
		told := collector.told()
		ours, theirs, ratio, costs := b.alternate(second, c)
		line := row{
			name: name + ": " + c.name, figure: theirs.figure(), reference: ours.figure(), ratio: fmt.Sprintf("%.3f, of processors %s", ratio, costs), wanted: wanted,
			statements: fmt.Sprintf("%.1f", theirs.statements), allocations: fmt.Sprintf("%.0f", theirs.allocations),
		}
		if collector != nil {
			line.figure += fmt.Sprintf(", %.1f spans", float64(collector.told()-told)/float64(theirs.sent))
		}
		rows = append(rows, line)
	}
	return rows, b.failed
}

// alternate measures the platform and another server in many short turns, of which now the one begins and now the other. What comes of each
// is of all its turns; the ratio is the median of those of the turns, and costs what the other had of the processors for each request, of what the
// platform had.
func (b *bencher) alternate(second *child, c contest) (ours, theirs result, ratio float64, costs string) {
	all := [2]*result{&ours, &theirs}
	var ratios, processors []float64
	for n := range b.o.turns {
		var rates, spent [2]float64
		for _, i := range [2]int{n % 2, 1 - n%2} {
			r := load(b.ctx, [2]*child{b.lab.platform, second}[i], b.token, c.conns, b.o.load/4, c.ours)
			if r.failures > 0 && b.failed == nil {
				b.failed = fmt.Errorf("%d requests failed, the first: %s", r.failures, r.firstFail)
			}
			rates[i], spent[i] = r.rate, r.processor.Seconds()/float64(max(1, r.answered))
			all[i].rate += r.rate / float64(b.o.turns)
			all[i].answered += r.answered
			all[i].sent += r.sent
			all[i].processor += r.processor
			all[i].statements, all[i].allocations = r.statements, r.allocations
		}
		ratios, processors = append(ratios, rates[1]/rates[0]), append(processors, spent[1]/spent[0])
	}
	slices.Sort(ratios)
	return ours, theirs, ratios[len(ratios)/2], typical(processors)
}

// typical tells the median of what was measured several times, and between which of these it lies in 19 of 20 cases, however they are distributed.
func typical(of []float64) string {
	slices.Sort(of)
	n := float64(len(of))
	off := 0.98 * math.Sqrt(n)
	from, to := max(0, int(n/2-off)), min(len(of)-1, int(math.Ceil(n/2+off)))
	return fmt.Sprintf("%.3f (%.3f to %.3f)", of[len(of)/2], of[from], of[to])
}

func (r result) figure() string {
	return fmt.Sprintf("%.0f/s, %s of processors", r.rate, us(r.processor/time.Duration(max(1, r.answered))))
}

func us(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1000) }

// told is how many spans a collector has been told of.
func (c *child) told() int64 {
	if c == nil {
		return 0
	}
	resp, err := http.Get(c.url + "/told")
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	raw, _ := io.ReadAll(resp.Body)
	n, _ := strconv.ParseInt(string(raw), 10, 64)
	return n
}

// serveCollector takes spans over OTLP, http/protobuf, as a collector does that passes them on.
func serveCollector(ctx context.Context, address string) error {
	var spans atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /told", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, spans.Load()) })
	mux.HandleFunc("POST /v1/", func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/traces") {
			spans.Add(spansOf(raw, 1, 2, 2)) // of each resource, of each scope
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

// spansOf counts the messages at the end of a path of fields.
func spansOf(raw []byte, at protowire.Number, below ...protowire.Number) (n int64) {
	for len(raw) > 0 {
		field, kind, size := protowire.ConsumeTag(raw)
		if size < 0 {
			return n
		}
		raw = raw[size:]
		if field == at && kind == protowire.BytesType {
			within, _ := protowire.ConsumeBytes(raw)
			if len(below) == 0 {
				n++
			} else {
				n += spansOf(within, below[0], below[1:]...)
			}
		}
		if size = protowire.ConsumeFieldValue(field, kind, raw); size < 0 {
			return n
		}
		raw = raw[size:]
	}
	return n
}
