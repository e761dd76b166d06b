package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda/nvml"
	"github.com/gopherwarp/gopherwarp/device"
)

// fake is a GPU with a given state.
type fake struct {
	reading nvml.Reading
	usage   nvml.Usage
	err     error
}

func (f fake) Read() (nvml.State, error) {
	return nvml.State{Reading: f.reading, Traffic: nvml.Traffic{Sent: nvml.Known(5e9)}, Usage: f.usage}, f.err
}

func labels(n string) prometheus.Labels {
	return prometheus.Labels{
		"gpu": n, "UUID": "GPU-" + n, "pci_bus_id": longBus(nvml.Bus{PCIBus: 0x4f}), "device": "nvidia" + n,
		"modelName": "NVIDIA H200", "Hostname": "box", "DCGM_FI_DRIVER_VERSION": "580.1",
	}
}

// TestGPUs compares names, labels and units with the exporter's.
func TestGPUs(t *testing.T) {
	r := nvml.Reading{Power: nvml.Known(123.5), Energy: nvml.Known(2)}
	r.Memory.Used, r.Temperature.GPU = nvml.Known(3<<30), nvml.Known(41)
	g := &GPUs{gpus: []gpu{{monitor: fake{reading: r}, labels: labels("0")}}, xids: newXIDs()}
	g.xids.note("GPU-0", nvml.XID{Number: 79})
	want := ""
	for _, m := range []struct{ name, kind, help, value, more string }{
		{"DCGM_FI_DEV_FB_USED", "gauge", "Frame buffer memory used (in MiB).", "3072", ""},
		{"DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", "41", ""},
		{"DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", "123.5", ""},
		{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Energy used since boot (in mJ).", "2000", ""},
		{"DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error encountered.", "79", `err_code="79",`},
		{"DCGM_FI_PROF_PCIE_TX_BYTES", "gauge", "Bytes per second sent over PCIe.", "5e+09", ""},
	} {
		want += "# HELP " + m.name + " " + m.help + "\n# TYPE " + m.name + " " + m.kind + "\n"
		want += m.name + `{DCGM_FI_DRIVER_VERSION="580.1",Hostname="box",UUID="GPU-0",device="nvidia0",` + m.more +
			`gpu="0",modelName="NVIDIA H200",pci_bus_id="00000000:4F:00.0"} ` + m.value + "\n"
	}
	want += `# HELP nv_energy_consumption Energy used since boot (in J).
# TYPE nv_energy_consumption counter
nv_energy_consumption{gpu_uuid="GPU-0"} 2
# HELP nv_gpu_memory_used_bytes Memory that is used (in bytes).
# TYPE nv_gpu_memory_used_bytes gauge
nv_gpu_memory_used_bytes{gpu_uuid="GPU-0"} 3.221225472e+09
# HELP nv_gpu_power_usage Power draw (in W).
# TYPE nv_gpu_power_usage gauge
nv_gpu_power_usage{gpu_uuid="GPU-0"} 123.5
`
	if err := testutil.CollectAndCompare(g, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// TestLostGPU expects an error in place of the metrics of a GPU that does not respond.
func TestLostGPU(t *testing.T) {
	lost := &nvml.Error{Call: "nvmlDeviceGetPowerUsage", Status: nvml.GPUIsLost}
	g := &GPUs{gpus: []gpu{{monitor: fake{err: lost}, labels: labels("0")}}, xids: newXIDs()}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(g); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.Gather(); !strings.Contains(err.Error(), lost.Error()) {
		t.Errorf("Gather returned %v, want %v", err, lost)
	}
}

func TestRuntime(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	var b *device.Buffer[float64] // stays open until the metrics have been gathered
	err = dev.Scope(context.Background(), func(s *device.Stream) error {
		var err error
		if b, err = device.Upload(s, make([]float64, 100)); err != nil {
			return err
		}
		return errors.Join(device.Download(s, make([]float64, 100), b), device.Download(s, make([]float64, 100), b))
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewRuntime(dev))
	families, err := registry.Gather()
	if err := errors.Join(err, b.Close(), dev.Close()); err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "kind" && m.Counter.GetValue() != 0 {
					got = append(got, fmt.Sprint(strings.TrimPrefix(f.GetName(), "gopherwarp_"), " ", l.GetValue(), " ", m.Counter.GetValue()))
				}
			}
			if f.GetName() == "gopherwarp_buffers" && m.Gauge.GetValue() != 1 {
				t.Errorf("%v open buffers, want 1", m.Gauge.GetValue())
			}
		}
	}
	want := "work_bytes_total download 1600; work_bytes_total upload 800; work_total download 2; work_total upload 1"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}
