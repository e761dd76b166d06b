package spans

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ErrOptions is the error of invalid options.
var ErrOptions = errors.New("spans: invalid options")

// Options say where a Tracer sends spans, and which requests it records.
type Options struct {
	// Endpoint is the URL that receives the spans, such as http://localhost:4318/v1/traces.
	Endpoint string
	// Headers are sent with each batch, for example an API key of the collector.
	Headers map[string]string
	// Resource are attributes of the server, such as service.name.
	Resource []Attribute
	// Sampler chooses the requests that are recorded.
	Sampler Sampler
	// Timeout limits the time of an attempt to send a batch. 0 means 10 seconds.
	Timeout time.Duration
	// Interval is the longest time that an ended span waits for others, to be sent together with them. 0 means 5 seconds.
	Interval time.Duration
	// Report may be nil. It is called with an error when a batch or a part of it is dropped, and with nil when the collector accepts a batch
	// again. It is not called again while further batches are dropped.
	Report func(error)
}

// A Tracer records spans and sends them. A nil *Tracer records nothing.
type Tracer struct{ *exporter }

// New returns a Tracer. The error wraps ErrOptions.
func New(o Options) (*Tracer, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: the endpoint %q is not a URL with http or https", ErrOptions, o.Endpoint)
	}
	if o.Timeout < 0 || o.Interval < 0 {
		return nil, fmt.Errorf("%w: a timeout of %v, an interval of %v", ErrOptions, o.Timeout, o.Interval)
	}
	return &Tracer{newExporter(o)}, nil
}

// Handler returns a handler that passes requests on to next, with a span in their contexts if the Sampler chooses them.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := t.begin(r)
		defer s.End() // also if the handler panics
		if s != nil {
			r = r.WithContext(context.WithValue(r.Context(), spanning{}, s))
		}
		next.ServeHTTP(w, r)
	})
}

// begin begins the span of a request, or returns nil if it is not recorded.
func (t *Tracer) begin(r *http.Request) *Span {
	s := &Span{tracer: t, record: record{id: newID(), kind: server, began: time.Now()}}
	p, ok := parentOf(r.Header)
	from := &p
	if ok {
		s.trace, s.parent, s.state, s.remote = p.trace, p.id, p.state, true
	} else {
		s.trace, from = newTrace(), nil
	}
	if !t.options.Sampler.chooses(s.trace, from) {
		return nil
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	s.Set(
		Attr("http.request.method", r.Method), Attr("url.scheme", scheme), Attr("url.path", r.URL.Path),
		Attr("network.protocol.version", strconv.Itoa(r.ProtoMajor)+minor(r)),
	)
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		s.Set(Attr("client.address", host))
	}
	if agent := r.UserAgent(); agent != "" {
		s.Set(Attr("user_agent.original", agent))
	}
	return s
}

// minor returns the end of the version of a request's protocol. HTTP/2 has the version 2.
func minor(r *http.Request) string {
	if r.ProtoMajor >= 2 {
		return ""
	}
	return "." + strconv.Itoa(r.ProtoMinor)
}
