package inorder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/problem"
)

// Shapes are those of the selections of one operation, each of which is looked at once.
type Shapes struct {
	mu sync.Mutex
	of map[selection]*Shape
	// written is how many objects could have been kept; from many on they are.
	written int
	kept    []kept
	args    map[argued]map[string]any
}

// argued is a field with arguments, and the type that it is of.
type argued struct {
	field *ast.Field
	of    string
}

// selection is the place of a selection, and of the types that it is collected for: both stay where they are while the
// operation goes on.
type selection struct {
	of    *ast.Selection
	count int
	types *string
}

// Shape is what a selection is of objects of some types.
type Shape struct {
	Fields []graphql.CollectedField
	// number is how many shapes the operation had before.
	number int
	// heads stand before the value of each field; there is none for what is selected twice.
	heads [][]byte
	// reads: the operation changes nothing, so that an object is written alike wherever it stands in it.
	reads bool
	plain plainness
}

// plainness tells whether all that is selected of a type is plain.
type plainness int

const (
	unknown plainness = iota
	plain
	notPlain
)

// Of gives the shape of a selection, whose fields are those of graphql.CollectFields.
func (s *Shapes) Of(oc *graphql.OperationContext, sel ast.SelectionSet, types []string) *Shape {
	if len(sel) == 0 || len(types) == 0 {
		return shapeOf(oc, sel, types)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := selection{&sel[0], len(sel), &types[0]}
	shape, known := s.of[at]
	if !known {
		if s.of == nil {
			s.of = map[selection]*Shape{}
		}
		shape = shapeOf(oc, sel, types)
		shape.number = len(s.of)
		s.of[at] = shape
	}
	return shape
}

func shapeOf(oc *graphql.OperationContext, sel ast.SelectionSet, types []string) *Shape {
	s := &Shape{Fields: graphql.CollectFields(oc, sel, types), reads: oc.Operation != nil && oc.Operation.Operation == ast.Query}
	s.heads = headsOf(s.Fields)
	return s
}

// Args gives the arguments of a field of a type, which read reads. In a query each object has the same there: they are read once.
func (s *Shapes) Args(oc *graphql.OperationContext, field *ast.Field, of string, read func() (map[string]any, error)) (map[string]any, error) {
	if oc.Operation == nil || oc.Operation.Operation != ast.Query {
		return read()
	}
	s.mu.Lock()
	args, known := s.args[argued{field, of}]
	s.mu.Unlock()
	if known {
		return args, nil
	}
	args, err := read()
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.args == nil {
			s.args = map[argued]map[string]any{}
		}
		s.args[argued{field, of}] = args
	}
	return args, err
}

// headsOf gives what stands before the value of each field, all in one piece of memory: a name needs no escapes.
func headsOf(fields []graphql.CollectedField) [][]byte {
	size := 0
	for _, f := range fields {
		size += len(`{"":`) + len(f.Alias)
	}
	heads, room, begin := make([][]byte, len(fields)), make([]byte, 0, size), byte('{')
	for i, f := range fields {
		if slices.ContainsFunc(fields[:i], func(other graphql.CollectedField) bool { return other.Alias == f.Alias }) {
			continue
		}
		from := len(room)
		room = append(append(append(room, begin, '"'), f.Alias...), '"', ':')
		heads[i], begin = room[from:len(room):len(room)], ','
	}
	return heads
}

// FieldSet is graphql.FieldSet for fields that are resolved in order, and its heads are made once for all objects of a shape.
type FieldSet struct {
	shape  *Shape
	Values []graphql.Marshaler
	// Invalids is how many values are missing that may not be.
	Invalids uint32
}

// NewFieldSet is graphql.NewFieldSet. The values of few fields are one piece of memory with it.
func NewFieldSet(s *Shape) *FieldSet {
	n := len(s.Fields)
	switch {
	case n <= 2:
		few := &struct {
			FieldSet
			values [2]graphql.Marshaler
		}{FieldSet: FieldSet{shape: s}}
		few.Values = few.values[:n]
		return &few.FieldSet
	case n <= 5:
		some := &struct {
			FieldSet
			values [5]graphql.Marshaler
		}{FieldSet: FieldSet{shape: s}}
		some.Values = some.values[:n]
		return &some.FieldSet
	case n <= 8:
		many := &struct {
			FieldSet
			values [8]graphql.Marshaler
		}{FieldSet: FieldSet{shape: s}}
		many.Values = many.values[:n]
		return &many.FieldSet
	}
	return &FieldSet{shape: s, Values: make([]graphql.Marshaler, n)}
}

// MarshalGQL implements graphql.Marshaler. An answer that is longer than MostAnswer goes no further.
func (f *FieldSet) MarshalGQL(w io.Writer) {
	if len(f.Values) == 0 {
		_, _ = io.WriteString(w, "{}")
		return
	}
	answer, _ := w.(*bytes.Buffer)
	for i, head := range f.shape.heads {
		if head != nil {
			_, _ = w.Write(head)
			f.Values[i].MarshalGQL(w)
		}
		if answer != nil && answer.Len() > MostAnswer {
			panic(errFull)
		}
	}
	_, _ = w.Write(closed)
}

var closed = []byte("}")

// What is plain is kept from so many objects on, in so many places: an object that comes up again is mostly one of the latest. One that takes
// more bytes is written each time.
const (
	manyObjects  = 32
	places       = 256
	mostOfObject = 16 << 10
)

// kept is how an object is written by a shape.
type kept struct {
	shape *Shape
	of    unsafe.Pointer
	value graphql.Marshaler
}

// Kept gives how an object was written before, where all that is selected of it is plain: such a field is read from the object alone,
// and can't fail. In a list of permissions the same role is written for each of them. nil: it was not, or is no longer kept.
func (s *Shapes) Kept(shape *Shape, plainFields map[string]bool, of unsafe.Pointer) graphql.Marshaler {
	if !shape.reads {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !shape.isPlain(plainFields) {
		return nil
	}
	if s.written++; s.written < manyObjects {
		return nil
	}
	if s.kept == nil {
		s.kept = make([]kept, places)
	}
	at := s.place(shape, of)
	if at.shape != shape || at.of != of {
		return nil
	}
	if set, is := at.value.(*FieldSet); is {
		var b bytes.Buffer
		if !fits(&b, set) || b.Len() > mostOfObject {
			return set
		}
		at.value = written(b.Bytes())
	}
	return at.value
}

// Keep keeps how an object is written, if Kept is to know of it.
func (s *Shapes) Keep(shape *Shape, of unsafe.Pointer, value *FieldSet) graphql.Marshaler {
	if shape.reads {
		s.mu.Lock()
		defer s.mu.Unlock()
		if shape.plain == plain && s.kept != nil {
			*s.place(shape, of) = kept{shape, of, value}
		}
	}
	return value
}

// place is where an object is kept: others are, too, and the last one stays.
func (s *Shapes) place(shape *Shape, of unsafe.Pointer) *kept {
	const line = 16 // most objects are longer
	n := uintptr(of)/line + uintptr(shape.number)*31
	return &s.kept[(n^n>>8)%places]
}

func (s *Shape) isPlain(fields map[string]bool) bool {
	if s.plain == unknown {
		s.plain = plain
		for _, f := range s.Fields {
			if f.Name != "__typename" && !fields[f.Name] {
				s.plain = notPlain
			}
		}
	}
	return s.plain == plain
}

type written []byte

// MarshalGQL implements graphql.Marshaler.
func (b written) MarshalGQL(w io.Writer) { _, _ = w.Write(b) }

// MostKept is how much memory for answers is kept for later ones, in one piece.
const MostKept = 1 << 20

// buffers are what answers are written to: a long one would be written anew each time that a buffer of its own has to grow.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// MostAnswer is how long an answer may be, in bytes: all of it is in memory before the first of it is sent, and a cost counts rows and objects
// alone.
const MostAnswer = 32 << 20

// Written gives what an answer is written as; nothing, and an error beside it, where it is too long.
func Written(ctx context.Context, answer graphql.Marshaler) []byte {
	b := buffers.Get().(*bytes.Buffer)
	if !fits(b, answer) {
		graphql.AddError(ctx, problem.Bad("the answer is longer than %d bytes: ask for fewer rows", MostAnswer).With("cost_limit"))
		return nil
	}
	if b.Cap() > MostKept {
		return b.Bytes()
	}
	body := bytes.Clone(b.Bytes())
	b.Reset()
	buffers.Put(b)
	return body
}

// fits writes a value, and tells whether all of it is there: see FieldSet.MarshalGQL.
func fits(b *bytes.Buffer, value graphql.Marshaler) (whole bool) {
	defer func() {
		if r := recover(); r != nil && r != errFull { //nolint:errorlint // it is that very value
			panic(r)
		}
	}()
	value.MarshalGQL(b)
	return true
}

// errFull ends the writing of an answer by a panic, as what writes values looks at no error.
var errFull = errors.New("the answer is too long")
