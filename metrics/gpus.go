package metrics

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

// GPUs is a collector of the state of a machine's GPUs.
type GPUs struct {
	gpus []gpu
	xids *xids
}

// gpu is a GPU with the labels of its metrics.
type gpu struct {
	monitor monitor
	labels  prometheus.Labels
}

// triton returns the labels of Triton's metrics.
func (g *gpu) triton() prometheus.Labels { return prometheus.Labels{"gpu_uuid": g.labels["UUID"]} }

// monitor is implemented by *nvml.Monitor, and by fakes in tests.
type monitor interface{ Read() (nvml.State, error) }

// NewGPUs returns a collector for all GPUs of lib, which must stay open until the last collection.
func NewGPUs(lib *nvml.Library) (*GPUs, error) {
	monitors, versions, err := lib.Monitors()
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	g := &GPUs{xids: newXIDs()}
	for _, m := range monitors {
		g.gpus = append(g.gpus, gpu{monitor: m, labels: prometheus.Labels{
			"gpu": strconv.Itoa(m.Index()), "UUID": m.UUID(), "pci_bus_id": longBus(m.Bus()), "device": "nvidia" + strconv.Itoa(m.Bus().Minor),
			"modelName": m.Name(), "Hostname": host, "DCGM_FI_DRIVER_VERSION": versions.Driver,
		}})
	}
	return g, nil
}

// longBus formats the bus with a PCI domain of eight digits, as the exporter does.
func longBus(b nvml.Bus) string {
	return fmt.Sprintf("%08X:%02X:%02X.0", b.PCIDomain, b.PCIBus, b.PCIDevice)
}

// metric describes one figure of a reading.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*nvml.State) nvml.Figure
	scale      float64
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
	mebi    = 1.0 / (1 << 20)
)

// metrics lists the exporter's metrics that are enabled by default or used in NVIDIA's dashboards.
var metrics = []metric{
	{"DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", gauge, func(s *nvml.State) nvml.Figure { return s.Clocks.SM }, 1},
	{"DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", gauge, func(s *nvml.State) nvml.Figure { return s.Clocks.Memory }, 1},
	{"DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C).", gauge, func(s *nvml.State) nvml.Figure { return s.Temperature.Memory }, 1},
	{"DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", gauge, func(s *nvml.State) nvml.Figure { return s.Temperature.GPU }, 1},
	{"DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", gauge, func(s *nvml.State) nvml.Figure { return s.Power }, 1},
	{"DCGM_FI_DEV_POWER_MGMT_LIMIT", "Power limit (in W).", gauge, func(s *nvml.State) nvml.Figure { return s.PowerLimit }, 1},
	{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy used since boot (in mJ).", counter, func(s *nvml.State) nvml.Figure { return s.Energy }, 1000},
	{"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Number of PCIe retries.", counter, func(s *nvml.State) nvml.Figure { return s.Link.Replays }, 1},
	{"DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", gauge, func(s *nvml.State) nvml.Figure { return s.Load.GPU }, 1},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", gauge, func(s *nvml.State) nvml.Figure { return s.Load.Memory }, 1},
	{"DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %).", gauge, func(s *nvml.State) nvml.Figure { return s.Load.Encoder }, 1},
	{"DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %).", gauge, func(s *nvml.State) nvml.Figure { return s.Load.Decoder }, 1},
	{"DCGM_FI_DEV_FB_FREE", "Frame buffer memory free (in MiB).", gauge, func(s *nvml.State) nvml.Figure { return s.Memory.Free }, mebi},
	{"DCGM_FI_DEV_FB_USED", "Frame buffer memory used (in MiB).", gauge, func(s *nvml.State) nvml.Figure { return s.Memory.Used }, mebi},
	{"DCGM_FI_DEV_FB_RESERVED", "Frame buffer memory reserved (in MiB).", gauge, func(s *nvml.State) nvml.Figure { return s.Memory.Reserved }, mebi},
	{"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Corrected memory errors since the driver was loaded.", counter, func(s *nvml.State) nvml.Figure { return s.Errors.Corrected }, 1},
	{"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Uncorrected memory errors since the driver was loaded.", counter, func(s *nvml.State) nvml.Figure { return s.Errors.Uncorrected }, 1},
	{"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows remapped for uncorrectable errors.", counter, func(s *nvml.State) nvml.Figure { return s.Errors.RowsUncorrected }, 1},
	{"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Rows remapped for correctable errors.", counter, func(s *nvml.State) nvml.Figure { return s.Errors.RowsCorrected }, 1},
	{"DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed.", gauge, func(s *nvml.State) nvml.Figure { return s.Errors.RowsFailed }, 1},
	{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", gauge, active, .01},
	{"DCGM_FI_PROF_SM_ACTIVE", "Ratio of cycles in which an SM has a warp.", gauge, func(s *nvml.State) nvml.Figure { return s.Usage.SM }, .01},
	{"DCGM_FI_PROF_SM_OCCUPANCY", "Ratio of warps on an SM to the maximum number of warps.", gauge, func(s *nvml.State) nvml.Figure { return s.Usage.Occupancy }, .01},
	{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Ratio of cycles in which the tensor cores are active.", gauge, func(s *nvml.State) nvml.Figure { return s.Usage.Tensor }, .01},
	{"DCGM_FI_PROF_PIPE_FP64_ACTIVE", "Ratio of cycles in which the fp64 units are active.", gauge, func(s *nvml.State) nvml.Figure { return s.Usage.FP64 }, .01},
	{"DCGM_FI_PROF_PIPE_FP32_ACTIVE", "Ratio of cycles in which the fp32 units are active.", gauge, func(s *nvml.State) nvml.Figure { return s.Usage.FP32 }, .01},
	{"DCGM_FI_PROF_PIPE_FP16_ACTIVE", "Ratio of cycles in which the fp16 units are active.", gauge, func(s *nvml.State) nvml.Figure { return s.Usage.FP16 }, .01},
	{"DCGM_FI_PROF_DRAM_ACTIVE", "Ratio of cycles in which the device memory sends or receives data.", gauge, func(s *nvml.State) nvml.Figure { return s.Usage.Memory }, .01},
	{"DCGM_FI_PROF_PCIE_TX_BYTES", "Bytes per second sent over PCIe.", gauge, func(s *nvml.State) nvml.Figure { return s.Traffic.Sent }, 1},
	{"DCGM_FI_PROF_PCIE_RX_BYTES", "Bytes per second received over PCIe.", gauge, func(s *nvml.State) nvml.Figure { return s.Traffic.Received }, 1},
}

// tritonMetrics lists the metrics of GPUs that Triton Inference Server has.
var tritonMetrics = []metric{
	{"nv_gpu_utilization", "GPU utilization (from 0 to 1).", gauge, func(s *nvml.State) nvml.Figure { return s.Load.GPU }, .01},
	{"nv_gpu_memory_total_bytes", "Memory of the GPU (in bytes).", gauge, func(s *nvml.State) nvml.Figure { return s.Memory.Total }, 1},
	{"nv_gpu_memory_used_bytes", "Memory that is used (in bytes).", gauge, func(s *nvml.State) nvml.Figure { return s.Memory.Used }, 1},
	{"nv_gpu_power_usage", "Power draw (in W).", gauge, func(s *nvml.State) nvml.Figure { return s.Power }, 1},
	{"nv_gpu_power_limit", "Power limit (in W).", gauge, func(s *nvml.State) nvml.Figure { return s.PowerLimit }, 1},
	{"nv_energy_consumption", "Energy used since boot (in J).", counter, func(s *nvml.State) nvml.Figure { return s.Energy }, 1},
}

// active returns the ratio of time in which the GPU is active. GPUs without activity counters
// report their utilization, which is nearly the same.
func active(s *nvml.State) nvml.Figure {
	if _, ok := s.Usage.Graphics.Get(); ok {
		return s.Usage.Graphics
	}
	return s.Load.GPU
}

// Describe implements prometheus.Collector. It describes no metrics, because they depend on the
// GPUs. Prometheus therefore treats the collector as unchecked.
func (g *GPUs) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. It reads the GPUs concurrently. A GPU that does not
// respond yields an error in place of its metrics.
func (g *GPUs) Collect(to chan<- prometheus.Metric) {
	var reading sync.WaitGroup
	for i := range g.gpus {
		reading.Go(func() { g.gpus[i].collect(to) })
	}
	reading.Wait()
	g.xids.collect(to, g.gpus)
}

func (g *gpu) collect(to chan<- prometheus.Metric) {
	s, err := g.monitor.Read()
	if err != nil {
		to <- prometheus.NewInvalidMetric(prometheus.NewDesc("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", nil, g.labels), err)
		return
	}
	send(to, metrics, &s, g.labels)
	send(to, tritonMetrics, &s, g.triton())
}

// send sends the figures that are known.
func send(to chan<- prometheus.Metric, list []metric, s *nvml.State, labels prometheus.Labels) {
	for _, m := range list {
		if v, ok := m.value(s).Get(); ok {
			to <- prometheus.MustNewConstMetric(prometheus.NewDesc(m.name, m.help, nil, labels), m.kind, v*m.scale)
		}
	}
}
