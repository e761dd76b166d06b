package metrics

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// limits bound what clients can take from a server.
type limits struct {
	requests    int           // in flight; more are refused with status 503
	gather      time.Duration // until the metrics are there
	read, write time.Duration // of a request and of its answer
	idle        time.Duration // between two requests of a connection
	header      int           // bytes
}

// usual fits scrapers that ask every few seconds to minutes.
var usual = limits{
	requests: 4, gather: 10 * time.Second, read: 5 * time.Second, write: 30 * time.Second, idle: 2 * time.Minute, header: 16 << 10,
}

// Serve answers requests to /metrics with the metrics that g gathers, until ctx is done. At most
// four requests are in flight; slow and silent clients are disconnected. Serve does not encrypt or
// authenticate, so listen on localhost, or on a network that only scrapers can reach.
func Serve(ctx context.Context, l net.Listener, g prometheus.Gatherer) error {
	return usual.serve(ctx, l, g)
}

func (m limits) serve(ctx context.Context, l net.Listener, g prometheus.Gatherer) error {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: m.requests, Timeout: m.gather,
	}))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: m.read, ReadTimeout: m.read, WriteTimeout: m.write, IdleTimeout: m.idle, MaxHeaderBytes: m.header,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		shut, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return server.Shutdown(shut)
	}
}
