package train

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// State is the state of an optimizer after some steps. Another optimizer with the same options, for parameters with the same values, continues
// from the State with the same bits.
type State struct {
	Steps   int
	Moments []float32 // the moments, none before the first step; with AdamWOptions.EightBit, the scales of Codes, and those moments that are not in Codes
	Codes   []uint8   // with AdamWOptions.EightBit, the moments that are stored in 8 bits
}

// State waits for the last step and returns a copy of the optimizer's state. If the parameters are divided, it is the state of this process: see Join.
func (o *state) State(s *tensor.Scope) (State, error) {
	st := State{Steps: o.steps}
	m, err := o.params.Memory(s)
	if err != nil || o.buffer == nil {
		return st, err
	}
	st.Moments = make([]float32, o.kept(m))
	if err := device.Download(s.Stream(), st.Moments, o.buffer.All().Slice(0, len(st.Moments))); err != nil {
		return st, err
	}
	if o.eight != nil {
		st.Codes = make([]uint8, o.eight.codes.Len())
		if err := device.Download(s.Stream(), st.Codes, o.eight.codes.All()); err != nil {
			return st, err
		}
	}
	return st, s.Stream().Synchronize(s.Context())
}

// Restore makes the optimizer continue from the State st. If the parameters are divided, st must be a result of Join. If st belongs to another kind
// of optimizer, or to another number of parameters, the error wraps ErrOptions.
func (o *state) Restore(s *tensor.Scope, st State) error {
	m, err := o.begin(s)
	if err != nil {
		return err
	}
	if st, err = o.split(m, st); err != nil {
		return err
	}
	if len(st.Codes) > 0 {
		if err := device.UploadTo(s.Stream(), o.eight.codes.All(), st.Codes); err != nil {
			return err
		}
	}
	if err := device.UploadTo(s.Stream(), o.buffer.All().Slice(0, len(st.Moments)), st.Moments); err != nil {
		return err
	}
	o.steps = st.Steps
	return nil
}
