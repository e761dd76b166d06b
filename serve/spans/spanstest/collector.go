package spanstest

import (
	"encoding/hex"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Collector is a server that accepts spans.
type Collector struct {
	URL string // of the server, without a path

	t     testing.TB
	mu    sync.Mutex
	spans []Span
	heads []http.Header
}

// New starts a Collector, which stops at the end of the test.
func New(t testing.TB) *Collector {
	c := &Collector{t: t}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// ServeHTTP receives a batch.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("the collector gets %s %s %s, %v", r.Method, r.URL, r.Header, err)
	}
	list := Decode(c.t, data)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans, c.heads = append(c.spans, list...), append(c.heads, r.Header)
}

// Spans returns the spans that have arrived.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// Headers returns the header of each batch.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heads
}

// Span is a span as it was sent. The identifiers are in hexadecimal digits. State is the field trace_state of the protocol.
type Span struct {
	Trace, ID, Parent, State, Name string
	Kind                           int // 1 for internal, 2 for server
	Began, Ended                   time.Time
	Attributes, Resource           map[string]any // values are string, int64, float64 and []any
	Scope                          string
	Failed                         bool
	Message                        string // of the failure
	Flags                          uint32
}

// Decode returns the spans in a message of the protocol.
func Decode(t testing.TB, data []byte) (list []Span) {
	for _, of := range fields(t, data)[1] {
		resource := attributes(t, fields(t, fields(t, of.bytes).one(1).bytes)[1])
		for _, in := range fields(t, of.bytes)[2] {
			scope := string(fields(t, fields(t, in.bytes).one(1).bytes).one(1).bytes)
			for _, x := range fields(t, in.bytes)[2] {
				s := span(t, fields(t, x.bytes))
				s.Resource, s.Scope = resource, scope
				list = append(list, s)
			}
		}
	}
	return list
}

// span returns the message Span.
func span(t testing.TB, m message) Span {
	status := fields(t, m.one(15).bytes)
	return Span{
		Trace: hex.EncodeToString(m.one(1).bytes), ID: hex.EncodeToString(m.one(2).bytes), Parent: hex.EncodeToString(m.one(4).bytes),
		State: string(m.one(3).bytes), Name: string(m.one(5).bytes), Kind: int(m.one(6).number),
		Began: time.Unix(0, int64(m.one(7).number)), Ended: time.Unix(0, int64(m.one(8).number)), Attributes: attributes(t, m[9]),
		Failed: status.one(3).number == 2, Message: string(status.one(2).bytes), Flags: uint32(m.one(16).number),
	}
}

// attributes returns messages KeyValue.
func attributes(t testing.TB, list []value) map[string]any {
	all := map[string]any{}
	for _, x := range list {
		m := fields(t, x.bytes)
		key := string(m.one(1).bytes)
		if _, twice := all[key]; twice {
			t.Errorf("two attributes %q", key)
		}
		all[key] = anyValue(t, m.one(2).bytes)
	}
	return all
}

// anyValue returns the message AnyValue.
func anyValue(t testing.TB, data []byte) any {
	for number, list := range fields(t, data) {
		x := list[0]
		switch number {
		case 1:
			return string(x.bytes)
		case 3:
			return int64(x.number)
		case 4:
			return math.Float64frombits(x.number)
		case 5:
			all := []any{}
			for _, x := range fields(t, x.bytes)[1] {
				all = append(all, anyValue(t, x.bytes))
			}
			return all
		}
	}
	t.Errorf("an attribute has no value: %x", data)
	return nil
}

// value is the value of a field: bytes or a number.
type value struct {
	bytes  []byte
	number uint64
}

// message is the values of the fields of a message, by their numbers.
type message map[protowire.Number][]value

// one returns the value of a field, or nothing.
func (m message) one(number protowire.Number) (v value) {
	if list := m[number]; len(list) > 0 {
		v = list[0]
	}
	return v
}

// fields decodes a message.
func fields(t testing.TB, data []byte) message {
	m := message{}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			t.Errorf("not a message: %x", data)
			return m
		}
		data = data[n:]
		var v value
		switch kind {
		case protowire.VarintType:
			v.number, n = protowire.ConsumeVarint(data)
		case protowire.Fixed64Type:
			v.number, n = protowire.ConsumeFixed64(data)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(data)
			v.number = uint64(x)
		default:
			v.bytes, n = protowire.ConsumeBytes(data)
		}
		if n < 0 {
			t.Errorf("not a message: %x", data)
			return m
		}
		m[number], data = append(m[number], v), data[n:]
	}
	return m
}
