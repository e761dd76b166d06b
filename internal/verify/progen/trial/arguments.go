package trial

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// arguments are those of a trial, of which every run of it gets a copy.
type arguments struct {
	block  []byte // the parameter block
	slices []*array
	maps   []tensorMap
}

// tensorMap is a tensor map among the arguments.
type tensorMap struct {
	*progen.Map
	at int // in the parameter block
}

// array is a slice among the arguments.
type array struct {
	layout layout
	at     int // in the parameter block
	n      int
	data   []byte // what a run begins with
	left   []byte // what one left
	memory driver.Memory
	skip   int    // bytes of memory before the data
	spare  int    // elements after the length
	in     *array // the one whose memory this is a part of, or nil
	from   int    // where in there, in elements
}

// arguments returns the arguments, for all threads.
func (t *Trial) arguments() arguments {
	in := arguments{block: make([]byte, t.Kernel.ParamBytes-driver.HiddenBytes)}
	r := rand.New(rand.NewPCG(1, t.Values))
	t.params(func(a progen.Arg, at, size int) {
		if a.Map != nil {
			in.maps = append(in.maps, tensorMap{a.Map, at})
			return
		}
		l := parseLayout(a.Layout)
		if a.Len == 0 {
			l.fill(r, in.block[at:at+size])
			return
		}
		bytes := (a.Len + a.Spare) * l.size
		s := &array{layout: l, at: at, n: a.Len, spare: a.Spare, from: a.From, data: make([]byte, bytes), left: make([]byte, bytes)}
		if t.unaligned && !a.Aligned {
			s.skip = l.size
		}
		if a.Shares > 0 {
			s.in = in.slices[a.Shares-1]
		}
		for i := range a.Len + a.Spare {
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
	for _, a := range in.slices {
		if a.memory != nil {
			a.memory.Free()
			a.memory = nil
		}
	}
}

// address returns where the data is.
func (a *array) address() uintptr {
	if a.in != nil {
		return a.in.address() + uintptr(a.from*a.layout.size)
	}
	return a.memory.Address() + uintptr(a.skip)
}

// encode writes a tensor map to the parameter block, as the device reads it.
func (in arguments) encode(m tensorMap, b driver.Backend) error {
	a := in.slices[m.Slice-1]
	width := m.Size[0] * a.layout.size
	plan := driver.TensorPlan{Address: a.address(), Element: a.layout.size, Size: m.Size, Stride: [2]int{width, width * m.Size[1]}, Box: m.Box}
	dst := (*[driver.TensorMapBytes]byte)(in.block[m.at:])
	if mapper, ok := b.(driver.TensorMapper); ok {
		return mapper.EncodeTensorMap(dst, plan)
	}
	plan.Put(dst)
	return nil
}

// bring allocates memory for a slice and fills it, unless it is a part of another one's.
func (a *array) bring(s *device.Stream) error {
	if a.in != nil {
		return nil
	}
	m, err := s.Device().Backend().Allocate(a.skip + len(a.data))
	if err != nil {
		return err
	}
	a.memory = m
	return s.Queue().Upload(a.address(), a.data)
}
