package metrics

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

// xids are the last serious errors of the GPUs, by the GPU's UUID.
type xids struct {
	mu   sync.Mutex
	last map[string]nvml.XID
}

func newXIDs() *xids { return &xids{last: map[string]nvml.XID{}} }

// Watch waits for serious errors of the GPUs, which Collect then shows as DCGM_FI_DEV_XID_ERRORS,
// until ctx is done. Where the driver has no events, it returns nil at once.
func (g *GPUs) Watch(ctx context.Context, lib *nvml.Library) error {
	devices, err := lib.Devices()
	if err != nil {
		return err
	}
	err = lib.WatchXIDs(ctx, devices, func(x nvml.XID) {
		if x.Device != nil {
			g.xids.note(x.Device.UUID(), x)
		}
	})
	if errors.Is(err, nvml.NotSupported) {
		return nil
	}
	return err
}

func (x *xids) note(uuid string, e nvml.XID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last[uuid] = e
}

// collect shows the number of each GPU's last error; 0 is none.
func (x *xids) collect(to chan<- prometheus.Metric, gpus []gpu) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range gpus {
		labels := prometheus.Labels{}
		for name, value := range gpus[i].labels {
			labels[name] = value
		}
		number := x.last[labels["UUID"]].Number
		labels["err_code"] = strconv.Itoa(number)
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.", nil, labels), gauge, float64(number))
	}
}
