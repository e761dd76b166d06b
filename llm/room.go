package llm

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/weights"
)

// smaller are the formats that an error proposes, from large to small.
var smaller = [...]weights.Type{weights.Q8_0, weights.Q6_K, weights.Q5_K, weights.Q4_K, weights.Q3_K, weights.Q2_K}

// roomForWeights returns an error if the device has no room for the weights of a file. The error names a format in which they would fit.
func roomForWeights(dev *device.Device, f *Files) error {
	need, elements := int64(0), 0
	for _, t := range f.Weights.Tensors {
		if f.Config.Tied && t.Name() == "lm_head.weight" {
			continue // llama.Load ignores it
		}
		size := t.Size()
		if in, _ := t.Type().Block(); in == 1 { // a GPU has bfloat16 instead
			size = min(size, 2*t.Len())
		}
		need, elements = need+int64(size), elements+t.Len()
	}
	room, err := roomFor(dev, need)
	if err != nil || room >= need {
		return err
	}
	advice := ""
	for _, format := range smaller {
		in, bytes := format.Block()
		if size := int64(elements/in+1) * int64(bytes); size < need && size <= int64(float64(room)*cacheShare) {
			advice = fmt.Sprintf("; in %v, they would fit", format)
			break
		}
	}
	return fmt.Errorf("llm: %w: the weights need %s, and there is room for %s%s", device.ErrMemory, gibibytes(need), gibibytes(room), advice)
}

// roomForTokens returns an error if the device, which has the weights of a model, has no room for the keys and values of o.Tokens. The error
// names the number for which there is room.
func roomForTokens(dev *device.Device, m *llama.Model, o Options) error {
	each := int64(m.TokenBytes(o.CacheDType))
	need := int64(o.Tokens) * each
	room, err := roomFor(dev, need)
	if err != nil || room >= need {
		return err
	}
	advice := ""
	if fit := int64(float64(room)*cacheShare) / each / llama.PageTokens * llama.PageTokens; fit > 0 {
		advice = fmt.Sprintf(", which is enough for a context of %d tokens", fit)
	}
	return fmt.Errorf("llm: %w: a cache of %d tokens needs %s, and beside the weights, there is room for %s%s",
		device.ErrMemory, o.Tokens, gibibytes(need), gibibytes(room), advice)
}

// roomFor returns the room on a device. If it is less than need, the memory of closed buffers is freed first.
func roomFor(dev *device.Device, need int64) (int64, error) {
	room, err := dev.Room()
	if err != nil || room >= need {
		return room, err
	}
	if err := dev.Trim(); err != nil {
		return 0, err
	}
	return dev.Room()
}

// gibibytes returns a size as text.
func gibibytes(n int64) string { return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30)) }
