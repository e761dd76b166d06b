package optimizer

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Eight is the moments of AdamW8, which begin as zeros. Arrays of two kinds have all first moments before all second ones.
type Eight struct {
	Chunks device.Slice[Chunk]   // of Layout; those of equal Slot must not overlap
	Codes  device.Slice[uint8]   // 2*Block for each chunk of 8-bit moments
	Scales device.Slice[float32] // 2 for each chunk of 8-bit moments
	Exact  device.Slice[float32] // 2*Block for each other chunk
	Table  device.Slice[float32] // of Tables
}

// Layout returns the chunks of parameters that begin at the given multiples of Unit and have the given sizes, and the number of chunks whose
// moments have 8 bits. Those of parameters with less than least elements have 32 bits.
func Layout(begins, sizes []int, least int) (list []Chunk, eight int) {
	exact := 0
	for i, n := range sizes {
		for at := 0; at < n; at += Block {
			c := Chunk{At: int32((begins[i] + at) / Unit), Length: int32((min(n-at, Block) + Unit - 1) / Unit)}
			if n < least {
				exact++
				c.Slot = int32(-exact)
			} else {
				c.Slot = int32(eight)
				eight++
			}
			list = append(list, c)
		}
	}
	return list, eight
}

// AdamW8 is AdamW with moments of 8 bits (Dettmers et al., "8-bit Optimizers via Block-wise Quantization"). It uses neither First nor Second
// of x, whose arrays must begin at multiples of 16 bytes. Copy is needed if derivatives are bfloat16, and only then.
func AdamW8[T Element](s *device.Stream, a Adam, x Operands[T], e Eight) error {
	return x.adamW8(s, row.FormFor(s), a, e)
}

// check reports whether the moments are those of n parameters.
func (e *Eight) check(n int) error {
	eight, exact := e.Scales.Len()/2, e.Exact.Len()/(2*Block)
	if n%Unit != 0 || n/4 > math.MaxInt32 || e.Chunks.Len() != eight+exact || e.Codes.Len() != 2*Block*eight || e.Table.Len() != TableLen {
		return fmt.Errorf("%w: %d parameters in %d chunks, %d codes, %d scales, %d exact moments, a table of %d", ErrShape, n, e.Chunks.Len(), e.Codes.Len(), e.Scales.Len(), e.Exact.Len(), e.Table.Len())
	}
	e.Codes, e.Scales, e.Exact = optional(e.Codes), optional(e.Scales), optional(e.Exact)
	return nil
}

// adamW8 is AdamW8 in a form.
func (x Operands[T]) adamW8(s *device.Stream, form row.Form, a Adam, e Eight) error {
	if err := x.check(); err != nil {
		return err
	}
	if err := e.check(x.Master.Len()); err != nil || e.Chunks.Len() == 0 {
		return err
	}
	o := operands8{Eight: e, master: x.Master, grad: device.None[float32](), half: device.None[dtype.BF16](), copy: device.None[dtype.BF16](), factor: optional(x.Factor)}
	switch x := any(x).(type) {
	case Operands[float32]:
		if o.grad = x.Grad; x.Copy.Len() > 0 {
			return fmt.Errorf("%w: a copy of parameters that are float32", ErrShape)
		}
	case Operands[dtype.BF16]:
		if o.half, o.copy = x.Grad, x.Copy; x.Copy.Len() == 0 {
			return fmt.Errorf("%w: no copy of the parameters", ErrShape)
		}
	}
	return o.launch(s, form, a.rates(x.Factor.Len() > 0))
}

// operands8 is the operands of the kernels. Those that are missing are nil slices.
type operands8 struct {
	Eight
	master, grad device.Slice[float32]
	half, copy   device.Slice[dtype.BF16]
	factor       device.Slice[float32]
}

// blocksPerCore is the largest number of blocks of wideAdamW8 for each multiprocessor. Fewer blocks load the tables less often; more of them share
// the work more evenly. On an H200, 64 are faster than 4, 8, 16 and one for each eight chunks.
const blocksPerCore = 64

// launch launches a form.
func (o *operands8) launch(s *device.Stream, form row.Form, r rates) error {
	n := o.Chunks.Len()
	if form == row.Plain {
		const perBlock = 16
		return PlainAdamW8(s, device.Cover(n, perBlock), o.Chunks, o.master, o.grad, o.half, o.copy, o.Codes, o.Scales, o.Exact, o.Table, o.factor, r)
	}
	const warps = threads / gpu.WarpSize
	grid := device.Blocks{X: min((n+warps-1)/warps, s.Device().Info().Cores*blocksPerCore)}
	four, half := device.View[[4]float32, float32], device.View[[4]dtype.BF16, dtype.BF16]
	return WideAdamW8(s, grid, o.Chunks, four(o.master), four(o.grad), half(o.half), half(o.copy), device.View[[2]uint32](o.Codes), o.Scales, four(o.Exact), o.Table, o.factor, r)
}
