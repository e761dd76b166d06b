package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
	"github.com/gopherwarp/gopherwarp/metrics"
)

type metricsCommand struct {
	Listen string `default:":9400" placeholder:"ADDRESS" help:"Where to serve /metrics. The default is the DCGM exporter's."`
}

// Help is the text behind the flags.
func (metricsCommand) Help() string {
	return `Serves the state of this machine's GPUs to Prometheus, with the names and labels of NVIDIA's
DCGM exporter: its dashboards work as they are.

Example:
  gopherwarp metrics -listen localhost:9400 &
  curl -s localhost:9400/metrics | grep DCGM_FI_DEV_POWER_USAGE`
}

// Run is called by kong.
func (c *metricsCommand) Run(ctx context.Context, t terminal) error {
	lib, err := nvml.Open()
	if err != nil {
		return exit{exitNoGPU, err}
	}
	gpus, err := metrics.NewGPUs(lib)
	if err != nil {
		return errors.Join(err, lib.Close())
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(gpus)
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return errors.Join(err, lib.Close())
	}
	fmt.Fprintf(t.out, "serving http://%s/metrics\n", listener.Addr())
	watched := make(chan error, 1)
	watching, stop := context.WithCancel(ctx)
	go func() { watched <- gpus.Watch(watching, lib) }()
	err = serve(ctx, listener, promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	stop()
	return errors.Join(err, <-watched, lib.Close())
}

// serve serves /metrics until ctx is done.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle("/metrics", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
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
