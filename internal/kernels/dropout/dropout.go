package dropout

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Options choose the elements that become zero.
type Options struct {
	Rate   float64 // the probability of an element to become zero, at least 0 and less than 1
	Seed   uint64  // of the random numbers
	Stream uint64  // random numbers of different streams are independent
}

// Errors of Apply.
var (
	ErrShape = errors.New("dropout: lengths do not fit")
	ErrRate  = errors.New("dropout: the rate is not a number from 0 to 1")
)

// Element is the type of elements.
type Element interface {
	row.Number
	float32 | dtype.BF16
}

const (
	threads = 256       // of a block
	words   = 4         // random numbers that a thread draws at once
	group   = 16        // threads whose elements are neighbours
	most    = 1<<31 - 1 // threads of a grid
)

// Apply stores in y the elements of x, divided by 1 - Rate, except that each becomes zero with the probability Rate. Y may be x. NaNs and
// infinities that become zero leave no trace.
func Apply[T Element](s *device.Stream, o Options, x, y device.Slice[T]) error {
	n := x.Len()
	if y.Len() != n || n > most {
		return fmt.Errorf("%w: %d elements in %d", ErrShape, n, y.Len())
	}
	if !(o.Rate >= 0 && o.Rate < 1) {
		return fmt.Errorf("%w: %v", ErrRate, o.Rate)
	}
	if n == 0 {
		return nil
	}
	p := draw{
		Seed: [2]uint32{uint32(o.Seed), uint32(o.Seed >> 32)}, Stream: [2]uint32{uint32(o.Stream), uint32(o.Stream >> 32)},
		Least: uint32(min(math.Round(o.Rate*(1<<32)), math.MaxUint32)), Scale: float32(1 / (1 - o.Rate)),
	}
	grid := device.Blocks{X: (n + threads*words - 1) / (threads * words)}
	switch x := any(x).(type) {
	case device.Slice[float32]:
		return Drop(s, grid, x, any(y).(device.Slice[float32]), p)
	case device.Slice[dtype.BF16]:
		return DropHalf(s, grid, x, any(y).(device.Slice[dtype.BF16]), p)
	}
	panic("BUG: dropout: no such element type")
}

// draw is Options for kernels: an element is kept if its random number is at least Least.
type draw struct {
	Seed, Stream [2]uint32
	Least        uint32
	Scale        float32
}

// drop stores x in y, with some elements replaced by zero.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 256
func drop(t gpu.Thread, x, y []float32, p draw) { dropWords[float32, row.F32](t, x, y, p) }

// dropHalf is drop for bfloat16, which has fast code only for GPUs.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:block 256
func dropHalf(t gpu.Thread, x, y []dtype.BF16, p draw) { dropWords[dtype.BF16, row.BF16](t, x, y, p) }

// dropWords draws four random numbers, for elements that are group elements apart, so that the threads of a group access neighbours.
func dropWords[T any, F row.Format[T]](t gpu.Thread, x, y []T, p draw) {
	var f F
	i := t.GlobalX()
	numbers := gpu.Philox4x32([4]uint32{uint32(i), 0, p.Stream[0], p.Stream[1]}, p.Seed)
	at := i/group*(group*words) + i%group
	for _, number := range numbers {
		if at < len(y) {
			v := float32(0)
			if number >= p.Least {
				v = f.Float32(x[at]) * p.Scale
			}
			y[at] = f.Of(v)
		}
		at += group
	}
}
