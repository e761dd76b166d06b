package spans

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"
	"time"
)

// kind is the kind of a span, with the values of the protocol.
type kind int

const (
	internal kind = 1
	server   kind = 2
)

// record is what a span contains.
type record struct {
	trace      [16]byte
	id, parent [8]byte // the parent is 0 for the first span of a trace
	remote     bool    // whether the parent is a span of the client
	state      string  // the header tracestate of the request
	name       string
	kind       kind
	began      time.Time
	ended      time.Time
	attributes []Attribute
	failure    string // the message of the error, or ""
}

// An Attribute describes a span.
type Attribute struct {
	key   string
	value any
}

// Attr returns an Attribute.
func Attr[T string | int | float64 | []string](key string, value T) Attribute {
	return Attribute{key, value}
}

// A Span is a part of the work for a request. Its methods may be called by several goroutines, and do nothing if the Span is nil.
type Span struct {
	tracer *Tracer
	mu     sync.Mutex
	record
	sent bool
}

// spanning is the key of a context's value: a *Span.
type spanning struct{}

// Of returns the span of ctx, or nil if the request is not recorded.
func Of(ctx context.Context) *Span {
	s, _ := ctx.Value(spanning{}).(*Span)
	return s
}

// maxText is the largest number of bytes of a text in a span, which clients may have chosen.
const maxText = 256

// cut returns the beginning of a text, as valid UTF-8.
func cut(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "")
}

// Name sets the name of the span.
func (s *Span) Name(name string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.name = cut(name)
}

// Set adds attributes. Set cuts texts to at most 256 bytes. The span must not have two attributes with the same key.
func (s *Span) Set(attributes ...Attribute) {
	if s == nil {
		return
	}
	for i, a := range attributes {
		if text, ok := a.value.(string); ok {
			attributes[i].value = cut(text)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attributes = append(s.attributes, attributes...)
}

// Fail marks the span as failed. A span with two failures keeps the first.
func (s *Span) Fail(message string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == "" {
		s.failure = cut(message)
	}
}

// Add adds a child that has ended. If s has no name, Add does nothing. A non-nil err marks the child as failed.
func (s *Span) Add(name string, during Interval, err error, attributes ...Attribute) {
	if s == nil {
		return
	}
	s.mu.Lock()
	named := s.name != ""
	s.mu.Unlock()
	if !named {
		return
	}
	c := s.child(name)
	c.began, c.ended, c.attributes = during.Began, during.Ended, attributes
	if err != nil {
		c.failure = cut(err.Error())
	}
	s.tracer.add(c)
}

// Interval is the time of a span.
type Interval struct{ Began, Ended time.Time }

// child returns a child of the span that begins now.
func (s *Span) child(name string) record {
	return record{trace: s.trace, id: newID(), parent: s.id, state: s.state, name: name, kind: internal, began: time.Now()}
}

// Start begins a child of the span of ctx, and returns a context whose span is the child. If ctx has no span, Start returns ctx and nil.
func Start(ctx context.Context, name string) (context.Context, *Span) {
	s := Of(ctx)
	if s == nil {
		return ctx, nil
	}
	c := &Span{tracer: s.tracer, record: s.child(name)}
	return context.WithValue(ctx, spanning{}, c), c
}

// End ends the span, which is then sent if it has a name. Further calls do nothing.
func (s *Span) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent {
		return
	}
	s.sent, s.ended = true, time.Now()
	if s.name != "" {
		s.tracer.add(s.record)
	}
}

// IDs returns the identifiers of the trace and of the span in hexadecimal digits, for logs, or two empty strings if s is nil.
func (s *Span) IDs() (trace, span string) {
	if s == nil {
		return "", ""
	}
	return hex.EncodeToString(s.trace[:]), hex.EncodeToString(s.id[:])
}
