package telemetry

import (
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of a Span of OTLP (opentelemetry/proto/trace/v1/trace.proto), and of what it holds.
const (
	fieldSpans = 2 // of ScopeSpans

	fieldTraceID, fieldSpanID, fieldParent = 1, 2, 4
	fieldName, fieldKind                   = 5, 6
	fieldBegun, fieldEnded                 = 7, 8
	fieldAttributes, fieldStatus           = 9, 15
	fieldFlags                             = 16

	fieldKey, fieldValue            = 1, 2 // of KeyValue
	fieldText, fieldYes, fieldCount = 1, 2, 3
	fieldMessage, fieldCode         = 2, 3 // of Status
)

const (
	statusError = 2
	// flagSampled is W3C's; the others say that it is known whether the span above is of another process, and that it is.
	flagSampled, flagKnown, flagRemote = 1, 0x100, 0x200
)

// The bytes of members of one length, with their tags.
const (
	sizeOfTraceID, sizeOfSpanID, sizeOfTime, sizeOfFlags = 2 + 16, 2 + 8, 1 + 8, 2 + 4
	sizeOfCode                                           = 1 + 1
)

// appendSpan writes a span as a member of ScopeSpans.
func appendSpan(b []byte, s *span, ended time.Time) []byte {
	name, why := clean(s.name, -1), clean(s.why, -1)
	status := sizeOfCode
	if why != "" {
		status += protowire.SizeTag(fieldMessage) + protowire.SizeBytes(len(why))
	}
	size := sizeOfTraceID + sizeOfSpanID + protowire.SizeTag(fieldName) + protowire.SizeBytes(len(name)) +
		protowire.SizeTag(fieldKind) + protowire.SizeVarint(uint64(s.kind)) + 2*sizeOfTime + len(s.attributes) + sizeOfFlags
	if s.parent.IsValid() {
		size += sizeOfSpanID
	}
	if s.failed {
		size += protowire.SizeTag(fieldStatus) + protowire.SizeBytes(status)
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldSpans, protowire.BytesType), uint64(size))
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldTraceID, protowire.BytesType), s.trace[:])
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldSpanID, protowire.BytesType), s.id[:])
	flags := uint32(flagSampled | flagKnown)
	if s.parent.IsValid() {
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldParent, protowire.BytesType), s.parent[:])
	}
	if s.remote {
		flags |= flagRemote
	}
	b = protowire.AppendString(protowire.AppendTag(b, fieldName, protowire.BytesType), name)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldKind, protowire.VarintType), uint64(s.kind))
	b = protowire.AppendFixed64(protowire.AppendTag(b, fieldBegun, protowire.Fixed64Type), uint64(s.begun.UnixNano()))
	b = protowire.AppendFixed64(protowire.AppendTag(b, fieldEnded, protowire.Fixed64Type), uint64(ended.UnixNano()))
	b = append(b, s.attributes...)
	if s.failed {
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldStatus, protowire.BytesType), uint64(status))
		if why != "" {
			b = protowire.AppendString(protowire.AppendTag(b, fieldMessage, protowire.BytesType), why)
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldCode, protowire.VarintType), statusError)
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, fieldFlags, protowire.Fixed32Type), flags)
}

// appendAttributes writes attributes as members of Span.
func appendAttributes(b []byte, attributes []Attribute, longest int) []byte {
	for i := range attributes {
		b = appendAttribute(b, &attributes[i], longest)
	}
	return b
}

func appendAttribute(b []byte, a *Attribute, longest int) []byte {
	text, size := "", 0
	switch a.kind {
	case fieldText:
		text = clean(a.text, longest)
		size = protowire.SizeBytes(len(text))
	default:
		size = protowire.SizeVarint(uint64(a.number))
	}
	size += protowire.SizeTag(a.kind)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldAttributes, protowire.BytesType),
		uint64(protowire.SizeTag(fieldKey)+protowire.SizeBytes(len(a.name))+protowire.SizeTag(fieldValue)+protowire.SizeBytes(size)))
	b = protowire.AppendString(protowire.AppendTag(b, fieldKey, protowire.BytesType), a.name)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldValue, protowire.BytesType), uint64(size))
	if a.kind == fieldText {
		return protowire.AppendString(protowire.AppendTag(b, fieldText, protowire.BytesType), text)
	}
	return protowire.AppendVarint(protowire.AppendTag(b, a.kind, protowire.VarintType), uint64(a.number))
}

// clean is a text as protobuf takes it, cut where it is longer than it may be.
func clean(text string, longest int) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if longest < 0 || len(text) <= longest {
		return text
	}
	for i := range text {
		if longest == 0 {
			return text[:i]
		}
		longest--
	}
	return text
}
