package spans

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// scope is the name of the instrumentation that makes the spans.
const scope = "github.com/gopherwarp/gopherwarp/serve"

// The flags of a span about its parent, beside those of traceparent.
const (
	flagSampled     = 1
	flagKnowsRemote = 1 << 8
	flagRemote      = 1 << 9
)

// statusError is the status of a span that failed.
const statusError = 2

// encode returns the message ExportTraceServiceRequest of the protocol OTLP (opentelemetry-proto, trace/v1 and collector/trace/v1).
func encode(resource []Attribute, list []record) []byte {
	spans := message(nil, 1, text(nil, 1, scope))
	for i := range list {
		spans = message(spans, 2, list[i].encode())
	}
	of := message(nil, 1, attributes(nil, 1, resource))
	return message(nil, 1, message(of, 2, spans))
}

// encode returns the message Span.
func (r *record) encode() []byte {
	to := message(nil, 1, r.trace[:])
	to = message(to, 2, r.id[:])
	to = text(to, 3, r.state)
	if r.parent != [8]byte{} {
		to = message(to, 4, r.parent[:])
	}
	to = text(to, 5, r.name)
	to = integer(to, 6, uint64(r.kind))
	to = instant(to, 7, r.began)
	to = instant(to, 8, r.ended)
	to = attributes(to, 9, r.attributes)
	if r.failure != "" {
		to = message(to, 15, integer(text(nil, 2, r.failure), 3, statusError))
	}
	flags := uint32(flagSampled | flagKnowsRemote)
	if r.remote {
		flags |= flagRemote
	}
	return protowire.AppendFixed32(protowire.AppendTag(to, 16, protowire.Fixed32Type), flags)
}

// attributes appends messages KeyValue.
func attributes(to []byte, number protowire.Number, list []Attribute) []byte {
	for _, a := range list {
		to = message(to, number, message(text(nil, 1, a.key), 2, anyValue(a.value)))
	}
	return to
}

// anyValue returns the message AnyValue.
func anyValue(v any) []byte {
	switch v := v.(type) {
	case int:
		return integer(nil, 3, uint64(v))
	case float64:
		return protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), math.Float64bits(v))
	case []string:
		var array []byte
		for _, s := range v {
			array = message(array, 1, anyValue(s))
		}
		return message(nil, 5, array)
	default:
		return message(nil, 1, []byte(v.(string)))
	}
}

// message appends a message, or bytes.
func message(to []byte, number protowire.Number, data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), data)
}

// text appends a text, unless it is empty.
func text(to []byte, number protowire.Number, s string) []byte {
	if s == "" {
		return to
	}
	return protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), s)
}

// integer appends an integer.
func integer(to []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), v)
}

// instant appends a time in nanoseconds since 1970.
func instant(to []byte, number protowire.Number, t time.Time) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(to, number, protowire.Fixed64Type), uint64(t.UnixNano()))
}

// refused returns a *refusal if the message ExportTraceServiceResponse says that the collector has not taken some spans, and otherwise
// nil. Other bytes than a message count as an empty message.
func refused(answer []byte) error {
	partial := fieldsOf(answer)[1]
	fields := fieldsOf(partial.bytes)
	if n := fields[1].varint; n > 0 {
		return &refusal{int(min(n, mostInBatch)), cut(string(fields[2].bytes))}
	}
	return nil
}

// field is the value of a field: a number, or bytes.
type field struct {
	varint uint64
	bytes  []byte
}

// fieldsOf returns the fields of a message by their numbers, as far as the message is valid.
func fieldsOf(data []byte) map[protowire.Number]field {
	fields := map[protowire.Number]field{}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			break
		}
		var f field
		length := 0
		switch data = data[n:]; kind {
		case protowire.VarintType:
			f.varint, length = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			f.bytes, length = protowire.ConsumeBytes(data)
		default:
			length = protowire.ConsumeFieldValue(number, kind, data)
		}
		if length < 0 {
			break
		}
		fields[number], data = f, data[length:]
	}
	return fields
}
