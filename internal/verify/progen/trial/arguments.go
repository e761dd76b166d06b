package trial

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// arguments are those of a trial, of which every run of it gets a copy.
type arguments struct {
	block  []byte // the parameter block
	slices []array
}

// array is a slice among the arguments.
type array struct {
	layout layout
	at     int // in the parameter block
	n      int
	data   []byte // what a run begins with
	left   []byte // what one left
	memory driver.Memory
	skip   int // bytes of memory in front of the data
}

// arguments returns the arguments, for all threads.
func (t *Trial) arguments() arguments {
	in := arguments{block: make([]byte, t.Kernel.ParamBytes-driver.HiddenBytes)}
	r := rand.New(rand.NewPCG(1, t.Values))
	t.params(func(a progen.Arg, at, size int) {
		l := parseLayout(a.Layout)
		if a.Len == 0 {
			l.fill(r, in.block[at:at+size])
			return
		}
		bytes := a.Len * l.size
		s := array{layout: l, at: at, n: a.Len, data: make([]byte, bytes), left: make([]byte, bytes)}
		if t.unaligned {
			s.skip = l.size
		}
		for i := range a.Len {
			l.fill(r, s.data[i*l.size:])
		}
		in.slices = append(in.slices, s)
	})
	in.start(0)
	return in
}

// start makes a thread the first one.
func (in arguments) start(first int) { put(in.block, 8, uint64(first)) }

// free frees what a run has allocated.
func (in arguments) free() {
	for i := range in.slices {
		if a := &in.slices[i]; a.memory != nil {
			a.memory.Free()
			a.memory = nil
		}
	}
}

// address returns where the data is.
func (a *array) address() uintptr { return a.memory.Address() + uintptr(a.skip) }
