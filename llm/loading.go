package llm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
)

// loading says how the weights of a network are loaded. The fields are those of Options, and foretell.
type loading struct {
	mapped    bool
	progress  func(done, total int64)
	interrupt func() error
	foretell  func(weights int64) error // unless it is nil, called with the size of the weights, before they are loaded
}

// load makes the stream and loads the weights.
func (n *network) load(dev *device.Device, f *Files, l loading) error {
	weights, err := roomForWeights(dev, f)
	if err != nil {
		return err
	}
	if l.mapped {
		if err := f.Weights.MapIfSupported(); err != nil {
			return err
		}
	}
	if n.stream, err = dev.NewStream(); err != nil {
		return err
	}
	if l.foretell != nil {
		if err := l.foretell(weights); err != nil {
			return err
		}
	}
	n.model, err = llama.Load(n.stream, f.Weights, llama.LoadOptions{Config: f.Config, Progress: l.progress, Interrupt: l.interrupt})
	return err
}
