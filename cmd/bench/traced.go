package main

import (
	"context"
	"errors"
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
	for _, c := range b.usual() {
		if !strings.Contains(name+": "+c.name, b.o.only) {
			continue
		}
		told := collector.told()
		t, err := b.inTurns(c, b.lab.platform, b.lab.binary, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.url)
		if err != nil {
			return rows, err
		}
		line := t.row()
		line.name, line.wanted = name+": "+c.name, "≥ 0.95"
		line.figure += fmt.Sprintf(", %.1f spans", float64(collector.told()-told)/float64(t.theirs.sent))
		rows = append(rows, line)
	}
	return rows, b.failed
}

// pair are two programs of the same schema that take turns.
type pair struct{ ours, theirs string }

// pairs reads "program=program,program=program".
func pairs(of string) (all []pair, err error) {
	for part := range strings.SplitSeq(of, ",") {
		ours, theirs, both := strings.Cut(part, "=")
		if !both {
			return nil, fmt.Errorf("-beside: %q is no pair of programs: give it as program=program", part)
		}
		all = append(all, pair{ours: ours, theirs: theirs})
	}
	return all, nil
}

// beside measures pairs of programs in turns. The code of one program lies elsewhere in memory than that of another, which alone can cost or save
// some hundredths: so what two programs differ by is told by several pairs of them, each of which is linked in another order.
func (b *bencher) beside() (rows []row, err error) {
	all, err := pairs(b.o.beside)
	if err != nil {
		return nil, err
	}
	for _, c := range b.usual() {
		if !strings.Contains(c.name, b.o.only) {
			continue
		}
		var rates, costs []float64
		var line row
		for _, p := range all {
			ours, err := b.lab.start(healthz, []string{"CANOPY_PUBLIC_URL=" + b.lab.platform.url}, p.ours, "serve")
			if err != nil {
				return rows, err
			}
			last, err := b.inTurns(c, ours, p.theirs)
			if err = errors.Join(err, ours.stop()); err != nil {
				return rows, err
			}
			line, rates, costs = last.row(), append(rates, median(last.rates)), append(costs, median(last.costs))
		}
		line.name = fmt.Sprintf("%s, %d pairs", c.name, len(all))
		line.ratio = typical(rates) + ", of processors " + typical(costs)
		rows = append(rows, line)
	}
	return rows, b.failed
}

// turns is what came of two servers that took turns: of all turns of each, and, turn by turn, what the other did of the first one's rate, and what it
// had of the processors for each request, of what the first one had.
type turns struct {
	ours, theirs result
	rates, costs []float64
}

func (t turns) row() row {
	return row{
		figure: t.theirs.figure(), reference: t.ours.figure(), ratio: fmt.Sprintf("%.3f, of processors %s", median(t.rates), typical(t.costs)),
		statements: fmt.Sprintf("%.1f", t.theirs.statements), allocations: fmt.Sprintf("%.0f", t.theirs.allocations),
	}
}

// inTurns measures a second server in turns with a first one, which runs already.
func (b *bencher) inTurns(c contest, first *child, program string, env ...string) (t turns, err error) {
	second, err := b.lab.start(healthz, append(env, "CANOPY_PUBLIC_URL="+b.lab.platform.url), program, "serve")
	if err != nil {
		return t, err
	}
	defer func() { _ = second.stop() }()
	if err := b.newTokenFor(c.app); err != nil {
		return t, err
	}
	return b.alternate(first, second, c), nil
}

// alternate measures two servers in many short turns, of which now the one begins and now the other.
func (b *bencher) alternate(first, second *child, c contest) (t turns) {
	all := [2]*result{&t.ours, &t.theirs}
	for n := range b.o.turns {
		var rates, spent [2]float64
		for _, i := range [2]int{n % 2, 1 - n%2} {
			r := load(b.ctx, [2]*child{first, second}[i], b.token, c.conns, b.o.load/4, c.ours)
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
		t.rates, t.costs = append(t.rates, rates[1]/rates[0]), append(t.costs, spent[1]/spent[0])
	}
	return t
}

// median is the one in the middle, or half way between the two that are.
func median(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}

// typical tells the median of what was measured several times, and between which of these it lies in 19 of 20 cases, however they are distributed.
func typical(of []float64) string {
	of = slices.Sorted(slices.Values(of))
	n := float64(len(of))
	off := 0.98 * math.Sqrt(n)
	from, to := max(0, int(n/2-off)), min(len(of)-1, int(math.Ceil(n/2+off)))
	return fmt.Sprintf("%.3f (%.3f to %.3f)", median(of), of[from], of[to])
}

func (r result) figure() string {
	return fmt.Sprintf("%.0f/s, %s of processors", r.rate, us(r.processor/time.Duration(max(1, r.answered))))
}

func us(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1000) }

// told is how many spans a collector has been told of.
func (c *child) told() int64 {
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
