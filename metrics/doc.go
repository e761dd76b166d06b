// Package metrics provides Prometheus collectors for the state of GPUs and for a program's use of
// devices.
//
//	lib, err := nvml.Open()
//	gpus, err := metrics.NewGPUs(lib)
//	registry := prometheus.NewRegistry()
//	registry.MustRegister(gpus, metrics.NewRuntime(dev))
//	err = metrics.Serve(ctx, listener, registry)
//
// The GPU metrics have the names, labels and units of NVIDIA's DCGM exporter, so dashboards and alerts for the
// exporter work unchanged. The command "gopherwarp metrics" serves these metrics without a program of your own.
// If Triton Inference Server has the same metric, the metric also appears under Triton's name. Metrics that a
// GPU does not support are absent rather than zero.
package metrics
