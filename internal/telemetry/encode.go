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

// appendSpan writes a span as a member of ScopeSpans. within is room for what is written meanwhile, and comes back as it has grown.
func appendSpan(to, within []byte, s *span, ended time.Time, longest int) (_, _ []byte) {
	b := within[:0]
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldTraceID, protowire.BytesType), s.trace[:])
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldSpanID, protowire.BytesType), s.id[:])
	flags := uint32(flagSampled | flagKnown)
	if s.parent.IsValid() {
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldParent, protowire.BytesType), s.parent[:])
	}
	if s.remote {
		flags |= flagRemote
	}
	b = appendText(b, fieldName, s.name, -1)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldKind, protowire.VarintType), uint64(s.kind))
	b = protowire.AppendFixed64(protowire.AppendTag(b, fieldBegun, protowire.Fixed64Type), uint64(s.begun.UnixNano()))
	b = protowire.AppendFixed64(protowire.AppendTag(b, fieldEnded, protowire.Fixed64Type), uint64(ended.UnixNano()))
	for i := range s.attributes {
		b = appendAttribute(b, &s.attributes[i], longest)
	}
	if s.failed {
		why := clean(s.why, -1)
		size := protowire.SizeTag(fieldCode) + protowire.SizeVarint(statusError)
		if why != "" {
			size += protowire.SizeTag(fieldMessage) + protowire.SizeBytes(len(why))
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldStatus, protowire.BytesType), uint64(size))
		if why != "" {
			b = protowire.AppendString(protowire.AppendTag(b, fieldMessage, protowire.BytesType), why)
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldCode, protowire.VarintType), statusError)
	}
	b = protowire.AppendFixed32(protowire.AppendTag(b, fieldFlags, protowire.Fixed32Type), flags)
	return protowire.AppendBytes(protowire.AppendTag(to, fieldSpans, protowire.BytesType), b), b
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

func appendText(b []byte, field protowire.Number, text string, longest int) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), clean(text, longest))
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
