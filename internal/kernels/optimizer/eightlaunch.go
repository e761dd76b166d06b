package optimizer

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
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

//gpu:instance eight32 = adamW8[float32, row.F32]
//gpu:instance eightBF16 = adamW8[dtype.BF16, row.BF16]
//gpu:instance wideEight32 = wideAdamW8[float32, row.F32]
//gpu:instance wideEightBF16 = wideAdamW8[dtype.BF16, row.BF16]

// AdamW8 is AdamW with moments of 8 bits (Dettmers et al., "8-bit Optimizers via Block-wise Quantization"). It uses neither First nor Second
// of x, whose arrays must begin at multiples of 16 bytes.
func AdamW8[T Element](s *device.Stream, a Adam, x Operands[T], e Eight) error {
	return x.adamW8(s, row.FormFor(s), a, e)
}

// adamW8 is AdamW8 in a form.
func (x Operands[T]) adamW8(s *device.Stream, form row.Form, a Adam, e Eight) error {
	n := x.Master.Len()
	if err := x.check(); err != nil {
		return err
	}
	eight, exact := e.Scales.Len()/2, e.Exact.Len()/(2*Block)
	if n%Unit != 0 || e.Chunks.Len() != eight+exact || e.Codes.Len() != 2*Block*eight || e.Table.Len() != TableLen {
		return fmt.Errorf("%w: %d parameters in %d chunks, %d codes, %d scales, %d exact moments, a table of %d", ErrShape, n, e.Chunks.Len(), e.Codes.Len(), e.Scales.Len(), e.Exact.Len(), e.Table.Len())
	}
	if e.Chunks.Len() == 0 {
		return nil
	}
	e.Codes, e.Scales, e.Exact = optional(e.Codes), optional(e.Scales), optional(e.Exact)
	if form == row.Wide && n/4 <= math.MaxInt32 {
		return x.wideEight(s, a.rates(x.Factor.Len() > 0), e)
	}
	return x.plainEight(s, a.rates(x.Factor.Len() > 0), e)
}

// plainEight launches the Plain form.
func (x Operands[T]) plainEight(s *device.Stream, r rates, e Eight) error {
	const perBlock = 16
	grid := device.Cover(e.Chunks.Len(), perBlock)
	switch x := any(x).(type) {
	case Operands[float32]:
		return eight32(s, grid, e.Chunks, x.Master, x.Grad, optional(x.Copy), e.Codes, e.Scales, e.Exact, e.Table, optional(x.Factor), r)
	case Operands[dtype.BF16]:
		return eightBF16(s, grid, e.Chunks, x.Master, x.Grad, optional(x.Copy), e.Codes, e.Scales, e.Exact, e.Table, optional(x.Factor), r)
	}
	panic("BUG: optimizer: no such element type")
}

// blocksPerCore is the number of blocks of wideAdamW8 that a multiprocessor runs at the same time.
const blocksPerCore = 8

// wideEight launches the Wide form.
func (x Operands[T]) wideEight(s *device.Stream, r rates, e Eight) error {
	const warps = threads / 32
	grid := device.Blocks{X: min((e.Chunks.Len()+warps-1)/warps, s.Device().Info().Cores*blocksPerCore)}
	master, exact := device.View[[4]float32](x.Master), optional(device.View[[4]float32](e.Exact))
	codes := optional(device.View[[2]uint32](e.Codes))
	switch x := any(x).(type) {
	case Operands[float32]:
		four := device.View[[4]float32, float32]
		return wideEight32(s, grid, e.Chunks, master, four(x.Grad), optional(four(x.Copy)), codes, e.Scales, exact, e.Table, optional(x.Factor), r)
	case Operands[dtype.BF16]:
		four := device.View[[4]dtype.BF16, dtype.BF16]
		return wideEightBF16(s, grid, e.Chunks, master, four(x.Grad), optional(four(x.Copy)), codes, e.Scales, exact, e.Table, optional(x.Factor), r)
	}
	panic("BUG: optimizer: no such element type")
}
