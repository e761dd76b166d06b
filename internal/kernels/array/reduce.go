package array

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// Fold is an operation that reduces elements to one.
type Fold int32

// The operations.
const (
	Sum      Fold = iota // of integers in int64
	Greatest             // NaN if an element is
	Smallest             // NaN if an element is
)

// folding is a reduction of each result's Length elements, Step from each other, in Parts parts: part i has the elements i, i+Parts,
// and so on, which is an order that neighbouring threads load neighbours in.
type folding struct {
	Fold          Fold
	X, Out        dtype.Type
	Length, Parts uint32
	Step          uint32
	Results       uint32  // of which the places are of the first element
	Divisor       float64 // of the result
	Running       bool    // store each partial result: there is one part, whose results are Step from each other as the elements are
}

// part returns the number of the thread's result and part.
func (f *folding) part(i uint32) (result, part uint32) {
	if f.Step == 1 {
		return i / max(f.Parts, 1), i % max(f.Parts, 1)
	}
	return i % max(f.Results, 1), i / max(f.Results, 1)
}

// fold returns the result of two.
func fold[T number](op Fold, x, y T) T {
	switch op {
	case Sum:
		return x + y
	case Greatest:
		return greater(x, y)
	}
	return smaller(x, y)
}

// identity returns the number that does not change the result of fold with another.
func identity(op Fold) float32 {
	switch op {
	case Greatest:
		return math32.Inf(-1)
	case Smallest:
		return math32.Inf(1)
	}
	return 0
}

// fold32 reduces in float32. It loads four elements before it adds them, in their order.
//
//gpu:kernel
//gpu:block 128
func fold32(t gpu.Thread, x16, out16 []uint16, x32, out32 []float32, f folding, p places) {
	i := first(t)
	if i >= f.Results*f.Parts {
		return
	}
	result, part := f.part(i)
	at, _, to := p.at(result)
	x, out := floats{x16, x32}, floats{out16, out32}
	v, k := identity(f.Fold), part
	if f.Running {
		for ; k < f.Length; k++ {
			v = fold(f.Fold, v, x.load(f.X, at+k*f.Step))
			out.store(f.Out, to+k*f.Step, v)
		}
		return
	}
	next := f.Parts * f.Step
	for at += k * f.Step; k+3*f.Parts < f.Length; k += 4 * f.Parts {
		a, b, c, d := x.load(f.X, at), x.load(f.X, at+next), x.load(f.X, at+2*next), x.load(f.X, at+3*next)
		v = fold(f.Fold, fold(f.Fold, fold(f.Fold, fold(f.Fold, v, a), b), c), d)
		at += 4 * next
	}
	for ; k < f.Length; k += f.Parts {
		v = fold(f.Fold, v, x.load(f.X, at))
		at += next
	}
	out.store(f.Out, result*f.Parts+part, v/float32(f.Divisor))
}

// fold64 reduces in float64.
//
//gpu:kernel
//gpu:block 128
func fold64(t gpu.Thread, x, out []float64, f folding, p places) {
	i := first(t)
	if i >= f.Results*f.Parts {
		return
	}
	result, part := f.part(i)
	at, _, to := p.at(result)
	v := x[at+part*f.Step]
	for k := part; k < f.Length; k += f.Parts {
		if k != part {
			v = fold(f.Fold, v, x[at+k*f.Step])
		}
		if f.Running {
			out[to+k*f.Step] = v
		}
	}
	if !f.Running {
		out[result*f.Parts+part] = v / f.Divisor
	}
}

// foldInt reduces in int64.
//
//gpu:kernel
//gpu:block 128
func foldInt(t gpu.Thread, x8, out8 []uint8, x32, out32 []int32, x64, out64 []int64, f folding, p places) {
	i := first(t)
	if i >= f.Results*f.Parts {
		return
	}
	result, part := f.part(i)
	at, _, to := p.at(result)
	v := (&integers{x8, x32, x64}).load(f.X, at+part*f.Step)
	for k := part; k < f.Length; k += f.Parts {
		if k != part {
			v = fold(f.Fold, v, (&integers{x8, x32, x64}).load(f.X, at+k*f.Step))
		}
		if f.Running {
			(&integers{out8, out32, out64}).store(f.Out, to+k*f.Step, v)
		}
	}
	if !f.Running {
		(&integers{out8, out32, out64}).store(f.Out, result*f.Parts+part, v)
	}
}

// Line is the dimension along which elements are reduced: Length elements, Step from each other.
type Line struct{ Length, Step int }

// segment is the number of elements that a thread reduces. The elements of a line are reduced in stages, by trees of this degree.
const segment = 64

// parts returns the number of parts of a line.
func (l Line) parts() int { return (l.Length + segment - 1) / segment }

// Stages returns the number of elements that each stage of a reduction has per result but the last, which has 1.
func (l Line) Stages() []int {
	var list []int
	for l.parts() > 1 {
		l.Length = l.parts()
		list = append(list, l.Length)
	}
	return list
}

// Reduction is one stage of a reduction of lines. X has the first elements of the lines; its strides are those of the results' shape. Out
// is contiguous; it has the parts of each result, or if Last, the results. Between stages, elements have the type Partial.
type Reduction struct {
	Fold    Fold
	X, Out  Array
	Line    Line
	Last    bool
	Divisor float64 // of the results in floats: 1, or a number for means
}

// Partial returns the type of the elements between stages.
func Partial(t dtype.Type) dtype.Type {
	switch ClassOf(t) {
	case Single:
		return dtype.Float32
	case Integer:
		return dtype.Int64
	}
	return t
}

// Parts returns the number of elements that a stage has per result: 1 for the last.
func (r *Reduction) Parts(s *device.Stream, shape []int) int {
	if p, err := placesOf(shape, &r.X, new(Array), new(Array)); err == nil {
		if f, _, ok := r.wide(s, p); ok {
			return int(f.Parts)
		}
	}
	return r.Line.parts()
}

// Reduce runs a stage. A line of no elements is an error.
func Reduce(s *device.Stream, shape []int, r *Reduction) error {
	parts := r.Parts(s, shape)
	if r.Last != (parts == 1) {
		return fmt.Errorf("%w: a stage of %d elements", ErrShape, r.Line.Length)
	}
	return r.launch(s, shape, folding{Parts: uint32(parts), Divisor: r.Divisor})
}

// Running stores for each element the result of the elements of its line up to it, in a line of Out, whose strides are those of X.
func Running(s *device.Stream, shape []int, r *Reduction) error {
	return r.launch(s, shape, folding{Parts: 1, Divisor: 1, Running: true})
}

// launch launches the kernel of the class.
func (r *Reduction) launch(s *device.Stream, shape []int, f folding) error {
	class := ClassOf(r.X.Type)
	if class == None || ClassOf(r.Out.Type) != class {
		return fmt.Errorf("%w: a reduction of %v to %v", ErrType, r.X.Type, r.Out.Type)
	}
	results := new(Array)
	if f.Running {
		results = &r.Out
	}
	p, err := placesOf(shape, &r.X, new(Array), results)
	if err != nil || p.N == 0 {
		return err
	}
	if err := r.X.line(shape, r.Line); err != nil {
		return err
	}
	if err := countable(p.N, r.Line.Length, f.Parts); err != nil {
		return err
	}
	if w, columns, ok := r.wide(s, p); ok && !f.Running {
		return r.launchWide(s, w, columns)
	}
	f.Fold, f.X, f.Out, f.Length, f.Step, f.Results = r.Fold, r.X.Type, r.Out.Type, uint32(r.Line.Length), uint32(r.Line.Step), p.N
	g := blocks(p.N * f.Parts)
	x, out := &r.X, &r.Out
	switch class {
	case Double:
		return Fold64(s, g, elements[float64](x), elements[float64](out), f, p)
	case Integer:
		return FoldInt(s, g, elements[uint8](x), elements[uint8](out), elements[int32](x), elements[int32](out), elements[int64](x), elements[int64](out), f, p)
	}
	return Fold32(s, g, elements[uint16](x), elements[uint16](out), elements[float32](x), elements[float32](out), f, p)
}

// countable reports whether the numbers of threads and of elements, by which a thread goes on four parts at a time, fit kernels.
func countable(results uint32, length int, parts uint32) error {
	if uint64(results)*uint64(parts) > math.MaxUint32 || uint64(length)+4*uint64(parts) > math.MaxUint32 {
		return fmt.Errorf("%w: %d results of %d elements in %d parts", ErrShape, results, length, parts)
	}
	return nil
}

// line reports whether an array has lines at the places of a shape.
func (a *Array) line(shape []int, l Line) error {
	if l.Length <= 0 {
		return fmt.Errorf("%w: a reduction of %d elements", ErrShape, l.Length)
	}
	var strides, sizes [8]int
	whole := Array{a.Bytes, a.Type, append(append(strides[:0], a.Strides...), l.Step), a.Offset}
	return whole.check(append(append(sizes[:0], shape...), l.Length))
}
