package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
	"github.com/gopherwarp/gopherwarp/metrics"
)

type metricsCommand struct {
	Listen string `default:"localhost:9400" placeholder:"ADDRESS" help:"The address to serve /metrics on; :9400 means all addresses. Default: localhost:9400, the DCGM exporter's port."`
}

// Help is the text after the flags.
func (metricsCommand) Help() string {
	return `Serves metrics of this machine's GPUs to Prometheus, with the names and labels of NVIDIA's DCGM exporter, so that
dashboards for the exporter work unchanged. Connections are not encrypted and need no password. By default, only this machine
can connect.

Example:
  gopherwarp metrics &
  curl -s localhost:9400/metrics | grep DCGM_FI_DEV_POWER_USAGE`
}

// Run runs the command.
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
	err = metrics.Serve(ctx, listener, registry)
	stop()
	return errors.Join(err, <-watched, lib.Close())
}
