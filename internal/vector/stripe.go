package vector

import (
	"bufio"
	"io"
	"slices"

	"canopy/internal/spill"
)

// stripe has the groups of buckets of several segments in a file: each group of all of them together, so that one read tells of a bucket in all. A
// question has some forty buckets, and what a read costs is hardly its length.
type stripe struct {
	region *spill.Region
	// starts are those of each segment. The groups of all are alike.
	starts [][]uint32
}

// stripeSegments is how many segments a stripe has at most: a question reads a group of all, of some hundred bytes each.
const stripeSegments = 16

// bounds is where a group lies.
func (t *stripe) bounds(group uint32) (from, end int64) {
	for _, starts := range t.starts {
		from, end = from+int64(starts[group]), end+int64(starts[group+1])
	}
	return from, end
}

// bytes is the memory of what it knows of its segments, and of those that are in no index any more.
func (t *stripe) bytes() (n int64) {
	for _, starts := range t.starts {
		n += int64(len(starts)) * 4
	}
	return n
}

// before is how many bytes of a group belong to the segments before one.
func (t *stripe) before(nth int, group uint32) (n int64) {
	for _, starts := range t.starts[:nth] {
		n += int64(starts[group+1] - starts[group])
	}
	return n
}

// near gives a group that is in memory, or has nothing.
func (s *sparseSegment) near(group uint32) (data []byte, is bool) {
	switch {
	case s.some != nil:
		return s.some[group], true
	case s.stripe == nil:
		return s.data[s.starts[group]:s.starts[group+1]], true
	}
	return nil, s.length(group) == 0
}

// length is that of a group, in bytes.
func (s *sparseSegment) length(group uint32) int64 { return int64(s.starts[group+1] - s.starts[group]) }

// groups reads groups of buckets of segments. What it gives may lie in its buffer, until it is used again.
type groups struct {
	buffer []byte
	// stripe and group say what the buffer has; nil for nothing.
	stripe *stripe
	group  uint32
}

// of gives a group of a segment. Those of the segments of one stripe are best asked for one behind the other.
func (r *groups) of(s *sparseSegment, group uint32) []byte {
	if near, is := s.near(group); is {
		return near
	}
	if r.stripe != s.stripe || r.group != group {
		from, end := s.stripe.bounds(group)
		r.read(s.stripe, from, end)
		r.stripe, r.group = s.stripe, group
	}
	at := s.stripe.before(s.nth, group)
	return r.buffer[at:][:s.length(group)]
}

// alone gives a group of a segment where others of its stripe are not asked for.
func (r *groups) alone(s *sparseSegment, group uint32) []byte {
	if near, is := s.near(group); is {
		return near
	}
	r.stripe = nil
	at, _ := s.stripe.bounds(group)
	at += s.stripe.before(s.nth, group)
	return r.read(s.stripe, at, at+s.length(group))
}

func (r *groups) read(t *stripe, from, end int64) []byte {
	r.buffer = slices.Grow(r.buffer[:0], int(end-from))[:end-from]
	t.region.Read(r.buffer, from)
	return r.buffer
}

// forget lets go of what was read.
func (r *groups) forget() { r.stripe = nil }

// readAtOnce is about how many bytes of a stripe are read at once where all of a segment is wanted, and how many are written.
const readAtOnce = 256 << 10

// sequence reads the groups of a stripe in their order.
type sequence struct {
	groups      groups
	first, read int64 // where what is in the buffer begins and ends
}

// next gives a group of a segment of the stripe, until a later one is asked for.
func (q *sequence) next(s *sparseSegment, group uint32) []byte {
	from, end := s.stripe.bounds(group)
	if end > q.read {
		q.first, q.read = from, max(end, min(from+readAtOnce, s.stripe.region.Len()))
		q.groups.read(s.stripe, q.first, q.read)
	}
	return q.groups.buffer[from-q.first+s.stripe.before(s.nth, group):][:s.length(group)]
}

// whole gives the data of a segment, wherever they are.
func (s *sparseSegment) whole() []byte {
	if s.stripe == nil {
		return s.data
	}
	data, q := make([]byte, 0, s.size()), sequence{}
	for group := range s.groups() {
		data = append(data, q.next(s, uint32(group))...)
	}
	return data
}

// newStripe makes one of segments in files whose groups are alike; nil where there is no room.
func newStripe(list []*sparseSegment, room *Room) *stripe {
	t, size := &stripe{}, int64(0)
	from := make([]*sequence, len(list)) // one for all segments of a stripe, so that each is read once
	of := map[*stripe]*sequence{}
	for i, s := range list {
		t.starts, size = append(t.starts, s.starts), size+int64(s.size())
		if of[s.stripe] == nil {
			of[s.stripe] = &sequence{}
		}
		from[i] = of[s.stripe]
	}
	t.region = room.make(size, func(to io.Writer) error {
		w := bufio.NewWriterSize(to, readAtOnce)
		for group := range list[0].groups() {
			for i, s := range list {
				if _, err := w.Write(from[i].next(s, uint32(group))); err != nil {
					return err
				}
			}
		}
		return w.Flush()
	})
	if t.region == nil {
		return nil
	}
	return t
}

// striper has the segments of a builder that lie in files lie in long stripes.
type striper struct {
	room *Room
	// alone are segments that nobody searches yet, each in a stripe of its own, by the shift of their groups.
	alone map[uint8][]*sparseSegment
}

// add takes in a segment that nobody searches yet, with its data in a file.
func (w *striper) add(s *sparseSegment, data *spill.Region) {
	s.stripe, s.nth, s.data = &stripe{region: data, starts: [][]uint32{s.starts}}, 0, nil
	if w.alone == nil {
		w.alone = map[uint8][]*sparseSegment{}
	}
	w.alone[s.shift] = append(w.alone[s.shift], s)
	if list := w.alone[s.shift]; len(list) == stripeSegments {
		w.join(list)
		w.alone[s.shift] = list[:0]
	}
}

// end has the rest lie in stripes, but for what was merged with others.
func (w *striper) end(parts []sparsePart) {
	for _, list := range w.alone {
		list = slices.DeleteFunc(list, func(s *sparseSegment) bool {
			return !slices.ContainsFunc(parts, func(p sparsePart) bool { return p.sparseSegment == s })
		})
		if len(list) > 1 {
			w.join(list)
		}
	}
}

// join makes a stripe of segments that nobody searches yet.
func (w *striper) join(list []*sparseSegment) {
	if t := newStripe(list, w.room); t != nil {
		for i, s := range list {
			w.room.drop(s.stripe.region)
			s.stripe, s.nth = t, i
		}
	}
}

// again makes new stripes of the segments of those that have lost more than half of theirs, so that files have no more than twice what is in use, and of those of short ones, once
// they are enough for a long one. The segments that are there stay as they are: a search may read them.
func (w *striper) again(parts []sparsePart) {
	left := map[*stripe]int{}
	for i := range parts {
		left[parts[i].stripe]++
	}
	chosen := map[uint8][]*sparsePart{} // by the shift of their groups
	lost := map[uint8]bool{}
	for i := range parts {
		p := &parts[i]
		if p.stripe == nil {
			continue
		}
		half := left[p.stripe]*2 < len(p.stripe.starts)
		if half || len(p.stripe.starts) < stripeSegments/2 {
			chosen[p.shift] = append(chosen[p.shift], p)
		}
		lost[p.shift] = lost[p.shift] || half
	}
	for shift, list := range chosen {
		if lost[shift] || len(list) >= stripeSegments {
			for list := range slices.Chunk(list, stripeSegments) {
				w.anew(list)
			}
		}
	}
}

// anew makes a stripe of some parts.
func (w *striper) anew(parts []*sparsePart) {
	list := make([]*sparseSegment, len(parts))
	for i, p := range parts {
		list[i] = p.sparseSegment
	}
	t := newStripe(list, w.room)
	if t == nil {
		return
	}
	for i, p := range parts {
		s := *p.sparseSegment
		s.stripe, s.nth = t, i
		p.sparseSegment = &s
	}
}
