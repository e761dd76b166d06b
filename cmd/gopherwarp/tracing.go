package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// newTracer returns the tracer that the environment variables of OpenTelemetry describe, or nil if they describe none. It prints which
// variables it ignores.
func newTracer(t terminal, get func(name string) string) (*spans.Tracer, error) {
	o, err := spans.FromEnvironment(get)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			console.Print(t.err, line, 2)
		}
	}
	if o.Endpoint == "" {
		return nil, nil
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		o.Resource = append(o.Resource, spans.Attr("telemetry.sdk.version", version(info)))
	}
	o.Report = func(err error) {
		text := "traces arrive at the collector again"
		if err != nil {
			text = fmt.Sprintf("traces are lost: %v", err)
		}
		console.Print(t.err, text, 2)
	}
	return spans.New(o)
}

// spanMetrics returns the metrics of a tracer, which may be nil.
func spanMetrics(t *spans.Tracer) []prometheus.Collector {
	if t == nil {
		return nil
	}
	counter := func(name, help string, labels prometheus.Labels, of func(spans.Stats) int64) prometheus.Collector {
		o := prometheus.CounterOpts{Name: "gopherwarp_spans_" + name + "_total", Help: help, ConstLabels: labels}
		return prometheus.NewCounterFunc(o, func() float64 { return float64(of(t.Stats())) })
	}
	dropped := "Spans of traces that were dropped, by reason."
	return []prometheus.Collector{
		counter("exported", "Spans of traces that the collector has accepted.", nil, func(s spans.Stats) int64 { return s.Exported }),
		counter("dropped", dropped, prometheus.Labels{"reason": "full"}, func(s spans.Stats) int64 { return s.Full }),
		counter("dropped", dropped, prometheus.Labels{"reason": "collector"}, func(s spans.Stats) int64 { return s.Failed }),
	}
}

// leastFlush is the time that the last spans have, even if answers have taken all of -drain.
const leastFlush = time.Second

// flush sends the last spans of the server, in what is left of the time for its end.
func (s *server) flush() {
	if s.tracer == nil {
		return
	}
	left := leastFlush
	if !s.draining.IsZero() {
		left = max(left, time.Until(s.draining.Add(s.Drain)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), left)
	defer cancel()
	s.tracer.Close(ctx)
}
