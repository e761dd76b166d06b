package trial

import (
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// Trial is a kernel and a launch of it. It can be encoded by encoding/gob.
type Trial struct {
	// Kernel has no parameters: the whole block of them is written at once.
	Kernel driver.Kernel
	Grid   device.Grid
	Args   []progen.Arg
	Values uint64 // the seed of the arguments
	Alone  bool   // a thread does the same in a launch of its own
	Lines  bool   // faults of threads alone are compared by line, not by message
	Prints bool   // with print or println: what is printed is not compared
	// Patience is how long each way to run the trial on the CPU may take; 0 is any time.
	Patience time.Duration

	unaligned bool // slices start one element after a multiple of 16, where the code does not count on more
}

// Of returns the trial of a random kernel, with nothing that runs yet.
func Of(k progen.Kernel) *Trial {
	t := &Trial{Args: k.Args, Values: k.Values, Alone: k.Alone, Lines: k.Lines, Prints: k.Prints, Grid: device.Grid{
		Blocks: device.Dim{X: k.Blocks[0], Y: k.Blocks[1], Z: k.Deep[0]}, Block: device.Dim{X: k.Threads[0], Y: k.Threads[1], Z: k.Deep[1]},
		Shared: k.Shared, Cluster: device.Dim{X: k.Cluster},
	}}
	t.Kernel.Name, t.Kernel.Barriers = k.Name, k.Barriers
	end := 0
	t.params(func(_ progen.Arg, at, size int) { end = at + size })
	t.Kernel.ParamBytes = roundUp(end, 8) + driver.HiddenBytes
	return t
}

// Compiled adds what the compiler made of the kernel.
func (t *Trial) Compiled(k *driver.Kernel) {
	t.Kernel = *k
	t.Kernel.Params = nil
	t.Grid.Cooperative = k.Cooperative
	if slices.ContainsFunc(t.Args, func(a progen.Arg) bool { return a.Shares > 0 }) { // which begins anywhere
		t.Kernel.Variants = slices.DeleteFunc(slices.Clone(k.Variants), aligned)
	}
	t.unaligned = !slices.ContainsFunc(t.Kernel.Variants, aligned)
}

func aligned(v driver.Variant) bool { return v.Aligned }

// Lesser returns the trial with the code for launches of which less is known, where there is some: slices
// whose starts are not multiples of 16, and grids whose threads must stay where they are.
func (t *Trial) Lesser() (list []*Trial) {
	coarse := slices.ContainsFunc(t.Kernel.Variants, func(v driver.Variant) bool { return v.Coarse > 0 })
	count := slices.ContainsFunc(t.Kernel.Variants, aligned)
	if coarse && count {
		list = append(list, t.without(aligned))
	}
	if coarse || count {
		list = append(list, t.without(func(v driver.Variant) bool { return v.Aligned || v.Coarse > 0 }))
	}
	return list
}

// without returns the trial without some of its variants, and with slices that start anywhere.
func (t *Trial) without(gone func(v driver.Variant) bool) *Trial {
	less := *t
	less.Kernel.Variants = slices.DeleteFunc(slices.Clone(t.Kernel.Variants), gone)
	less.unaligned = true
	return &less
}

// params calls f with each argument and where it lies in the parameter block.
func (t *Trial) params(f func(a progen.Arg, at, size int)) {
	end := 8 // after the number of the first thread
	for _, a := range t.Args {
		size, align := 24, 8
		switch {
		case a.Map != nil:
			size, align = driver.TensorMapBytes, driver.TensorMapAlign
		case a.Len == 0:
			l := parseLayout(a.Layout)
			size, align = l.size, l.align
		}
		at := roundUp(end, align)
		f(a, at, size)
		end = at + size
	}
}
