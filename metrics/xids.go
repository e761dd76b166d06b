package metrics

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

// xids has the most recent serious error of each GPU by the GPU's UUID.
type xids struct {
	mu   sync.Mutex
	last map[string]nvml.XID
}

func newXIDs() *xids { return &xids{last: map[string]nvml.XID{}} }

// Watch receives serious errors of the GPUs until ctx is done. Collect then reports the most recent
// error as DCGM_FI_DEV_XID_ERRORS. If the driver does not support events, Watch returns nil at
// once.
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

// collect sends the number of each GPU's most recent error, or 0 if there was none.
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
