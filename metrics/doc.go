// Package metrics has Prometheus collectors for GPUs and for what a program does with them.
//
//	lib, err := nvml.Open()
//	gpus, err := metrics.NewGPUs(lib)
//	prometheus.MustRegister(gpus, metrics.NewRuntime(dev))
//
// The GPUs' metrics have the names and labels of NVIDIA's DCGM exporter, so that dashboards and
// alerts for it work as they are; "gopherwarp metrics" serves them without a program. What a
// GPU cannot tell is absent, not zero.
package metrics
