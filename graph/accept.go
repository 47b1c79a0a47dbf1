package graph

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The media types of answers: those of GraphQL over HTTP (its draft, section 4), and a stream of
// server-sent events.
const (
	typeJSON    = "application/json"
	typeGraphQL = "application/graphql-response+json"
	typeEvents  = "text/event-stream"
)

// accepted is what a client takes for an answer.
type accepted struct {
	// media is one of the JSON types; "" when the client takes none of them.
	media string
	// events: it takes a stream. "*/*" is not enough: whoever says no more than that does not expect an
	// answer without an end.
	events bool
}

// acceptedBy reads the Accept header (RFC 9110, section 12.5.1). Without one the answer is plain JSON.
func acceptedBy(r *http.Request) accepted {
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return accepted{media: typeJSON}
	}
	list := mediaRanges(header)
	plain, own := preferenceOf(list, typeJSON), preferenceOf(list, typeGraphQL)
	stream := preferenceOf(list, typeEvents)
	a := accepted{events: stream.q > 0 && stream.exactness > asAnything}
	switch {
	case own.over(plain):
		a.media = typeGraphQL
	case plain.q > 0:
		a.media = typeJSON
	}
	return a
}

// mediaRange is one element of an Accept header.
type mediaRange struct {
	media string
	q     float64
}

// mediaRanges reads the elements that can be read.
func mediaRanges(header string) (list []mediaRange) {
	for part := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if weight, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(weight, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		list = append(list, mediaRange{media, q})
	}
	return list
}

// How exactly a range names a type: not at all, as anything, by its kind, by its name.
const (
	asAnything = 1 + iota
	asKind
	asNamed
)

// preference is how much a client wants a type: its weight, and where and how it says so.
type preference struct {
	q                float64
	exactness, place int
}

// preferenceOf is what the most exact range says of a type.
func preferenceOf(list []mediaRange, media string) (p preference) {
	for i, r := range list {
		exactness := 0
		switch r.media {
		case media:
			exactness = asNamed
		case media[:strings.IndexByte(media, '/')] + "/*":
			exactness = asKind
		case "*/*":
			exactness = asAnything
		}
		if exactness > p.exactness {
			p = preference{r.q, exactness, i}
		}
	}
	return p
}

// over tells whether p is wanted more than other: by its weight, then by name, then named first.
func (p preference) over(other preference) bool {
	switch {
	case p.q != other.q:
		return p.q > other.q
	case p.q == 0:
		return false
	case p.exactness != other.exactness:
		return p.exactness > other.exactness
	}
	return p.place < other.place
}
