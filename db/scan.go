package db

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/jmoiron/sqlx/reflectx"
)

// selectInto reads all rows of a statement into dst, a pointer to a slice of rows, of pointers to rows, or of what the only column has.
func selectInto(ctx context.Context, from queryer, dst any, text string, args ...any) (err error) {
	rows, err := from.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	list := newGrowing(dst)
	into, err := newScan(list.of, rows)
	if err != nil {
		return err
	}
	left := roomIn(ctx)
	for rows.Next() {
		if err := into.row(rows, list.next()); err != nil {
			return err
		}
		if err := left.take(into.dest); err != nil {
			return err
		}
	}
	return rows.Err()
}

// getInto reads one row of a statement into dst, a pointer to a row or to what the only column has; sql.ErrNoRows when there is none.
func getInto(ctx context.Context, from queryer, dst any, text string, args ...any) error {
	rows, err := from.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	to := reflect.ValueOf(dst)
	into, err := newScan(to.Type().Elem(), rows)
	if err != nil {
		return err
	}
	if err := into.row(rows, to.UnsafePointer()); err != nil {
		return err
	}
	return rows.Close()
}

// queryer is what answers a statement.
type queryer interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// scan puts the columns of a statement into rows of one type.
type scan struct {
	to   []place
	dest []any
}

// newScan finds the places of columns in a type.
func newScan(of reflect.Type, rows *sql.Rows) (*scan, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	s := &scan{to: make([]place, len(columns)), dest: make([]any, len(columns))}
	places := placesOf(of)
	for i, column := range columns {
		p, found := places[column]
		if !found {
			p, found = places[""]
			found = found && len(columns) == 1
		}
		if !found {
			return nil, fmt.Errorf("%s has no place for column %s of %d", of, column, len(columns))
		}
		s.to[i] = p
	}
	return s, nil
}

// row puts what has come into a row.
func (s *scan) row(rows *sql.Rows, at unsafe.Pointer) error {
	for i := range s.to {
		s.dest[i] = s.to[i].at(unsafe.Add(at, s.to[i].offset))
	}
	return rows.Scan(s.dest...)
}

// place is where a column goes in a row: what database/sql scans into is at gives of the memory there. What it knows nothing of costs
// it a look at the types of both sides for each value of each row, so numbers and what may be null are scanned by types of this file.
type place struct {
	offset uintptr
	at     func(unsafe.Pointer) any
}

var (
	// layouts has the places of the columns of a type, by their names; where a type is what one column has, that has none.
	layouts sync.Map
	mapper  = reflectx.NewMapperFunc("db", strings.ToLower)
	scanner = reflect.TypeFor[sql.Scanner]()
)

func placesOf(of reflect.Type) map[string]place {
	known, found := layouts.Load(of)
	if !found {
		known, _ = layouts.LoadOrStore(of, layout(of))
	}
	return known.(map[string]place)
}

func layout(of reflect.Type) map[string]place {
	value := map[string]place{"": {at: destination(of)}}
	if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(scanner) {
		return value
	}
	fields := mapper.TypeMap(of)
	if len(fields.Index) == 0 { // a moment has none that can be seen
		return value
	}
	places := make(map[string]place, len(fields.Names))
	for name, field := range fields.Names {
		places[name] = placeOf(of, field.Index)
	}
	return places
}

func placeOf(of reflect.Type, index []int) (p place) {
	field := of
	for _, i := range index {
		if field.Kind() != reflect.Struct { // what lies behind a pointer is made when it is needed
			return place{at: func(row unsafe.Pointer) any {
				return reflectx.FieldByIndexes(reflect.NewAt(of, row).Elem(), index).Addr().Interface()
			}}
		}
		p.offset += field.Field(i).Offset
		field = field.Field(i).Type
	}
	p.at = destination(field)
	return p
}

// destination gives what memory of a type is scanned into.
func destination(of reflect.Type) func(unsafe.Pointer) any {
	if reflect.PointerTo(of).Implements(scanner) {
		return func(at unsafe.Pointer) any { return reflect.NewAt(of, at).Interface() }
	}
	switch of {
	case reflect.TypeFor[time.Time]():
		return as[moment]
	case reflect.TypeFor[string]():
		return as[string]
	case reflect.TypeFor[bool]():
		return as[bool]
	}
	switch of.Kind() {
	case reflect.Int64:
		return as[number[int64]]
	case reflect.Int:
		return as[number[int]]
	case reflect.Int32:
		return as[number[int32]]
	case reflect.String:
		return as[word]
	case reflect.Pointer:
		if maybe := orNull(of.Elem()); maybe != nil {
			return maybe
		}
	}
	return func(at unsafe.Pointer) any { return reflect.NewAt(of, at).Interface() }
}

// orNull gives what memory of a pointer is scanned into; nil where that is left to database/sql.
func orNull(of reflect.Type) func(unsafe.Pointer) any {
	switch of {
	case reflect.TypeFor[int64]():
		return as[pointer[int64]]
	case reflect.TypeFor[string]():
		return as[pointer[string]]
	case reflect.TypeFor[bool]():
		return as[pointer[bool]]
	case reflect.TypeFor[time.Time]():
		return as[orNever]
	}
	return nil
}

func as[T any](at unsafe.Pointer) any { return (*T)(at) }

// number is a number, or memory of a type that is one.
type number[T int | int32 | int64] struct{ is T }

// Scan implements sql.Scanner.
func (n *number[T]) Scan(src any) error {
	if v, is := src.(int64); is && int64(T(v)) == v {
		n.is = T(v)
		return nil
	}
	return convert(&n.is, src)
}

// word is memory of a type that is a text.
type word string

// Scan implements sql.Scanner.
func (w *word) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*w = word(v)
	case []byte:
		*w = word(v)
	default:
		return fmt.Errorf("%T is no text", src)
	}
	return nil
}

// pointer is one to a value, or nil for null.
type pointer[T any] struct{ to *T }

// Scan implements sql.Scanner.
func (p *pointer[T]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		p.to = nil
		return nil
	case T:
		p.to = &v
		return nil
	}
	p.to = new(T)
	return convert(p.to, src)
}

// moment is one, by itself or as sent has it.
type moment struct{ is time.Time }

// Scan implements sql.Scanner.
func (m *moment) Scan(src any) error {
	const bytes, fromUnix = 8, 946_684_800_000_000 // microseconds from 2000 on
	switch v := src.(type) {
	case time.Time:
		m.is = v
		return nil
	case []byte:
		if len(v) == bytes {
			m.is = time.UnixMicro(int64(binary.BigEndian.Uint64(v)) + fromUnix).UTC()
			return nil
		}
	}
	return convert(&m.is, src)
}

// orNever is a pointer to a moment, or nil for null.
type orNever struct{ at *time.Time }

// Scan implements sql.Scanner.
func (o *orNever) Scan(src any) error {
	if o.at = nil; src == nil {
		return nil
	}
	var m moment
	if err := m.Scan(src); err != nil {
		return err
	}
	o.at = &m.is
	return nil
}

// convert leaves a value to database/sql.
func convert[T any](to *T, src any) error {
	if src == nil {
		return fmt.Errorf("converting NULL to %T is unsupported", *to)
	}
	var v sql.Null[T]
	err := v.Scan(src)
	*to = v.V
	return err
}

// growing is a slice that rows are added to.
type growing struct {
	slice reflect.Value
	of    reflect.Type
	// Rows that the slice has pointers to are made several at a time.
	pointers *[]unsafe.Pointer
	made     unsafe.Pointer
	left     int
	last     int
}

// mostMade is how many rows are one piece of memory at most: it lives as long as any of them.
const mostMade = 32

func newGrowing(dst any) *growing {
	to := reflect.ValueOf(dst)
	g := &growing{slice: to.Elem()}
	g.slice.SetLen(0)
	if g.of = g.slice.Type().Elem(); g.of.Kind() == reflect.Pointer {
		g.of, g.pointers = g.of.Elem(), (*[]unsafe.Pointer)(to.UnsafePointer())
	}
	return g
}

// next adds a row, and gives where it is until the next one.
func (g *growing) next() unsafe.Pointer {
	if g.pointers == nil {
		n := g.slice.Len()
		g.slice.Grow(1)
		g.slice.SetLen(n + 1)
		g.slice.Index(n).SetZero()
		return g.slice.Index(n).Addr().UnsafePointer()
	}
	if g.left == 0 {
		g.left = min(max(1, 2*g.last), mostMade)
		g.last = g.left
		g.made = reflect.MakeSlice(reflect.SliceOf(g.of), g.left, g.left).UnsafePointer()
	}
	row := g.made
	if g.left--; g.left > 0 {
		g.made = unsafe.Add(g.made, g.of.Size())
	}
	*g.pointers = append(*g.pointers, row)
	return row
}
