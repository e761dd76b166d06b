package array

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// argFloat finds the index of the greatest or smallest of the candidates: all elements of a line, or, if there are candidates, those
// with the indices in candidates, of which each result has Length, one after another.
//
//gpu:kernel
//gpu:block 128
func argFloat(t gpu.Thread, x16 []uint16, x32 []float32, x64 []float64, candidates, out []int64, f folding, step uint32, p places) {
	for i := first(t); i < f.Results*f.Parts; i += uint32(t.GridDimX()) * block {
		result, part := f.part(i)
		at, _, _ := p.at(result)
		var best candidate[float64]
		for k := part; k < f.Length; k += f.Parts {
			index := int64(k)
			if len(candidates) > 0 {
				index = candidates[result*f.Length+k]
			}
			var v float64
			if from := at + uint32(index)*step; f.X == dtype.Float64 {
				v = x64[from]
			} else {
				v = float64((&floats{x16, x32}).load(f.X, from))
			}
			best.take(f.Fold, v, index, k == part)
		}
		out[result*f.Parts+part] = best.index
	}
}

// argInt is argFloat for integers.
//
//gpu:kernel
//gpu:block 128
func argInt(t gpu.Thread, x8 []uint8, x32 []int32, x64 []int64, candidates, out []int64, f folding, step uint32, p places) {
	for i := first(t); i < f.Results*f.Parts; i += uint32(t.GridDimX()) * block {
		result, part := f.part(i)
		at, _, _ := p.at(result)
		var best candidate[int64]
		for k := part; k < f.Length; k += f.Parts {
			index := int64(k)
			if len(candidates) > 0 {
				index = candidates[result*f.Length+k]
			}
			best.take(f.Fold, (&integers{x8, x32, x64}).load(f.X, at+uint32(index)*step), index, k == part)
		}
		out[result*f.Parts+part] = best.index
	}
}

// candidate is the best element so far.
type candidate[T number] struct {
	value T
	index int64
}

// take replaces the candidate by a better one: NaN, or a greater or smaller number, or an equal one before it.
func (c *candidate[T]) take(op Fold, v T, index int64, always bool) {
	better := v > c.value
	if op == Smallest {
		better = v < c.value
	}
	if v != v {
		better = c.value == c.value
	}
	if same := v == c.value || v != v && c.value != c.value; always || better || same && index < c.index {
		c.value, c.index = v, index
	}
}

// Arg runs a stage of a search for the index of the greatest or smallest element of each line. Line is that of all elements. After the
// first stage, candidates are the parts of the preceding stage, which are the numbers that Stages returns. The first of
// equal elements is found, and the first NaN if there is one.
func Arg(s *device.Stream, shape []int, r *Reduction, candidates device.Slice[int64]) error {
	class := ClassOf(r.X.Type)
	if class == None || r.Out.Type != dtype.Int64 {
		return fmt.Errorf("%w: indices %v of %v", ErrType, r.Out.Type, r.X.Type)
	}
	p, err := placesOf(shape, &r.X, new(Array), new(Array))
	if err != nil || p.N == 0 {
		return err
	}
	if err := r.X.line(shape, r.Line); err != nil {
		return err
	}
	length := r.Line.Length
	f := folding{Fold: r.Fold, X: r.X.Type, Step: uint32(r.Line.Step), Results: p.N}
	if n := candidates.Len(); n > 0 {
		length, f.Step = n/int(p.N), 1
	} else {
		candidates = device.None[int64]()
	}
	f.Length, f.Parts = uint32(length), uint32(Line{Length: length}.parts())
	if err := countable(p.N, length, f.Parts); err != nil {
		return err
	}
	g, x, out := blocksFor(s, p.N*f.Parts), &r.X, elements[int64](&r.Out)
	if class == Integer {
		return ArgInt(s, g, elements[uint8](x), elements[int32](x), elements[int64](x), candidates, out, f, uint32(r.Line.Step), p)
	}
	return ArgFloat(s, g, elements[uint16](x), elements[float32](x), elements[float64](x), candidates, out, f, uint32(r.Line.Step), p)
}
