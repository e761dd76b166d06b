package train

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/optimizer"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// ErrMeasure is the error of Step if the parameters are divided (see nn.Params.Divide) and Measure was not called before.
var ErrMeasure = errors.New("train: Step without Measure")

// Measure is for divided parameters (see nn.Params.Divide). Call it before each Step. It computes the norm of the derivatives of those
// elements of parameters that this process updates (nn.Memory.Parts). The result has an entry for each process, and Measure sets the entry of
// this process. Before Step, the program must copy the other entries from the results of the other processes.
func (o *state) Measure(s *tensor.Scope) (device.Slice[float32], error) {
	m, err := o.begin(s)
	if err != nil {
		return device.Slice[float32]{}, err
	}
	if m.Values.DType() == dtype.BFloat16 {
		return measure[dtype.BF16](s, o, m)
	}
	return measure[float32](s, o, m)
}

func measure[T interface {
	optimizer.Element
	tensor.Element
}](s *tensor.Scope, o *state, m *nn.Memory) (norms device.Slice[float32], err error) {
	all, err := tensor.SliceOf[T](m.Grads)
	if err != nil {
		return norms, err
	}
	var grads []device.Slice[T]
	for _, p := range m.Parts {
		grads = append(grads, all.Slice(p.Begin, p.End))
	}
	x := o.scratch(m)
	if err := optimizer.Norm(s.Stream(), grads, x.sums, x.own); err != nil {
		return norms, err
	}
	o.measured = true
	return x.norms, device.Copy(s.Stream(), x.norms.Slice(m.Rank, m.Rank+1), x.own.Slice(1, 2))
}

// scratch is the end of the buffer, after the moments.
type scratch struct {
	factor device.Slice[float32] // by which derivatives are multiplied, and their norm
	own    device.Slice[float32] // a factor, and the norm of the derivatives in Parts, if parameters are divided
	norms  device.Slice[float32] // of all processes, if parameters are divided
	sums   device.Slice[float32] // the workspace of optimizer.Clip
}

// scratch returns the end of the buffer.
func (o *state) scratch(m *nn.Memory) scratch {
	all := o.buffer.All()
	all = all.Slice(o.kept(m), all.Len())
	x := scratch{factor: all.Slice(0, 2), own: all.Slice(2, 4)}
	at := extra
	if m.World > 1 {
		x.norms = all.Slice(at, at+m.World)
		at += roundUp(m.World, extra)
	}
	x.sums = all.Slice(at, at+optimizer.Workspace(m.Own()))
	return x
}

// scratchLen returns the number of its elements.
func scratchLen(m *nn.Memory) int {
	n := extra + optimizer.Workspace(m.Own())
	if m.World > 1 {
		n += roundUp(m.World, extra)
	}
	return n
}

// roundUp returns the smallest multiple of unit that is at least n.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// clearOthers clears the derivatives that are in no Part.
func clearOthers[T tensor.Element](s *tensor.Scope, m *nn.Memory, grads device.Slice[T]) error {
	var errs []error
	var zero T
	for _, p := range m.Parts {
		begin, end := m.Range(p)
		for _, x := range [][2]int{{begin, p.Begin}, {p.End, end}} {
			if x[0] < x[1] {
				errs = append(errs, device.Fill(s.Stream(), grads.Slice(x[0], x[1]), zero))
			}
		}
	}
	return errors.Join(errs...)
}

// Join is for divided parameters (see nn.Params.Divide). It combines the States of the optimizers of all processes, in the order of their
// ranks, into the State of one optimizer of undivided parameters.
func (o *state) Join(s *tensor.Scope, shares []State) (State, error) {
	m, err := o.params.Memory(s)
	if err != nil || len(shares) == 0 {
		return State{}, err
	}
	all := State{Steps: shares[0].Steps}
	if o.buffer == nil {
		return all, nil
	}
	for rank, x := range shares {
		own, whole := o.places(m, rank)
		if len(x.Moments) != own.numbers || len(x.Codes) != own.codes {
			return State{}, fmt.Errorf("%w: rank %d has a State of %d numbers and %d codes, not %d and %d", ErrOptions, rank, len(x.Moments), len(x.Codes), own.numbers, own.codes)
		}
		if all.Moments == nil {
			all.Moments, all.Codes = make([]float32, whole.numbers), make([]uint8, whole.codes)
		}
		for i := range own.list {
			move(all, whole.list[i], x, own.list[i])
		}
	}
	return all, nil
}

// split returns the share of a State of an optimizer whose parameters are not divided. It is the State itself if they are not.
func (o *state) split(m *nn.Memory, st State) (State, error) {
	own, whole := o.places(m, m.Rank)
	n, codes := whole.numbers, whole.codes
	if len(st.Moments)+len(st.Codes) == 0 && st.Steps == 0 {
		st.Moments, st.Codes = make([]float32, n), make([]uint8, codes)
	}
	if len(st.Moments) != n || len(st.Codes) != codes || st.Steps < 0 {
		return st, fmt.Errorf("%w: a State of %d steps, %d numbers for %d, and %d codes for %d", ErrOptions, st.Steps, len(st.Moments), n, len(st.Codes), codes)
	}
	if m.World == 1 {
		return st, nil
	}
	to := State{Steps: st.Steps, Moments: make([]float32, own.numbers), Codes: make([]uint8, own.codes)}
	for i := range own.list {
		move(to, own.list[i], st, whole.list[i])
	}
	return to, nil
}

// places is where parts of a State are.
type places struct {
	numbers, codes int // the lengths of Moments and Codes
	list           []place
}

// place is a range of Moments or of Codes.
type place struct {
	at, n int
	codes bool
}

// move copies a range of a State.
func move(to State, a place, from State, b place) {
	if a.codes {
		copy(to.Codes[a.at:a.at+a.n], from.Codes[b.at:])
		return
	}
	copy(to.Moments[a.at:a.at+a.n], from.Moments[b.at:])
}

// places returns where the moments of a process are in its State, and in the State of an optimizer whose parameters are not divided, in the same order.
func (o *state) places(m *nn.Memory, rank int) (own, whole places) {
	if o.eight != nil {
		return eightPlaces(m, rank)
	}
	pieces, n := m.Pieces(rank)
	own.numbers, whole.numbers = o.moments*m.Own(), o.moments*n
	for i := range o.moments {
		for _, x := range pieces {
			own.list = append(own.list, place{at: i*m.Own() + x.Own, n: x.Len})
			whole.list = append(whole.list, place{at: i*n + x.Whole, n: x.Len})
		}
	}
	return own, whole
}
