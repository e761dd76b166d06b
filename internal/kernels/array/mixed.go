package array

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// group is the number of elements that a thread of mixed takes at a time: 16 bytes of half precision, or 32 of float32.
const group = 8

// mixture is an operation on groups of elements of types.
type mixture struct {
	Op        Op
	X, Y, Out dtype.Type // Y is Invalid if y is the scalar
	Scalar    float32
	N         uint32 // groups of x and out
	Period    uint32 // groups of y, which begin again at the end; or elements of y, if Inner is not 0
	Inner     uint32 // the number of groups of x for each element of y, or 0
}

// mixed applies an operation to contiguous elements of types that may differ, for GPUs. Booleans are stored in truths, eight at a time.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 128
func mixed(t gpu.Thread, x, y, out []row.Words, truths [][group / 4]uint32, y16 []uint16, y32 []float32, m mixture) {
	for i := first(t); i < m.N; i += uint32(t.GridDimX()) * block {
		a := loadGroup(x, m.X, i)
		var b [group]float32
		switch {
		case m.Y != dtype.Invalid && m.Inner == 0:
			if m.Period < m.N {
				b = loadGroup(y, m.Y, i%m.Period)
			} else {
				b = loadGroup(y, m.Y, i)
			}
		case m.Y != dtype.Invalid:
			b = repeat((&floats{y16, y32}).load(m.Y, i/m.Inner%m.Period))
		default:
			b = repeat(m.Scalar)
		}
		v := ofGroup(m.Op, a, b)
		if m.Out == dtype.Bool {
			truths[i] = truthsOf(v)
		} else {
			storeGroup(out, m.Out, i, v)
		}
	}
}

// repeat returns a group of equal elements.
func repeat(x float32) (a [group]float32) {
	for k := range len(a) {
		a[k] = x
	}
	return a
}

// loadGroup returns group i of elements of a type.
func loadGroup(x []row.Words, of dtype.Type, i uint32) (a [group]float32) {
	switch of {
	case dtype.Float32:
		low, high := (row.F32{}).Unpack(x[2*i]), (row.F32{}).Unpack(x[2*i+1])
		for k := range len(low) {
			a[k], a[k+group/2] = low[k], high[k]
		}
	case dtype.Float16:
		a = (row.F16{}).Unpack(x[i])
	default:
		a = (row.BF16{}).Unpack(x[i])
	}
	return a
}

// storeGroup rounds v to group i of elements of a type.
func storeGroup(out []row.Words, of dtype.Type, i uint32, v [group]float32) {
	switch of {
	case dtype.Float32:
		var low, high [group / 2]float32
		for k := range len(low) {
			low[k], high[k] = v[k], v[k+group/2]
		}
		out[2*i], out[2*i+1] = (row.F32{}).Pack(low), (row.F32{}).Pack(high)
	case dtype.Float16:
		out[i] = (row.F16{}).Pack(v)
	default:
		out[i] = (row.BF16{}).Pack(v)
	}
}

// truthsOf returns numbers, which are 0 or 1, as bytes.
func truthsOf(v [group]float32) (w [group / 4]uint32) {
	for k := range len(v) {
		w[k/4] |= uint32(v[k]) << (k % 4 * 8)
	}
	return w
}

// grouped reports whether ofGroup computes the operation.
func (op Op) grouped() bool {
	return op.cheap() || op >= Equal && op <= SigmoidBack || op == Sqrt || op == Exp
}

// ofGroup returns the result of an operation for each element. It chooses the operation once.
func ofGroup(op Op, x, y [group]float32) [group]float32 {
	switch op {
	case Exp:
		for k := range len(x) {
			x[k] = math32.Exp(x[k])
		}
	case Sqrt:
		for k := range len(x) {
			x[k] = math32.Sqrt(x[k])
		}
	case Abs:
		for k := range len(x) {
			x[k] = math32.Abs(x[k])
		}
	case Maximum:
		for k := range len(x) {
			x[k] = greater(x[k], y[k])
		}
	case Minimum:
		for k := range len(x) {
			x[k] = smaller(x[k], y[k])
		}
	case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual:
		for k := range len(x) {
			x[k] = compare(op, x[k], y[k])
		}
	case TanhBack, SigmoidBack:
		for k := range len(x) {
			x[k] = others(op, x[k], y[k])
		}
	default:
		return cheapAll(op, x, y)
	}
	return x
}

// mixed launches mixed if the operands permit it, and reports whether they do.
func (x *Operands) mixed(s *device.Stream, p places) (bool, error) {
	if row.FormFor(s) == row.Plain || !x.Op.grouped() || p.N%group != 0 || (p.Offset[0]|p.Offset[2])%group != 0 || !x.aligned() {
		return false, nil
	}
	r, ok := x.flat(p)
	if !ok {
		return false, nil
	}
	m := mixture{Op: x.Op, X: x.X.Type, Y: x.Y.Type, Out: x.Out.Type, Scalar: float32(x.Scalar), N: p.N / group}
	y, y16, y32 := device.None[row.Words](), device.None[uint16](), device.None[float32]()
	switch {
	case x.Y.Type == dtype.Invalid:
	case r.inner == 1 && r.period%group == 0 && p.Offset[1]%group == 0:
		y, m.Period = words(&x.Y, r.period), r.period/group
	case r.inner%group == 0:
		y16, y32, m.Period, m.Inner = elements[uint16](&x.Y), elements[float32](&x.Y), r.period, r.inner/group
		if y16, y32 = part(y16, x.Y.Offset, r.period), part(y32, x.Y.Offset, r.period); r.period == 1 {
			m.Inner = m.N
		}
	default:
		return false, nil
	}
	out, truths := device.None[row.Words](), device.None[[group / 4]uint32]()
	if x.Out.Type == dtype.Bool {
		truths = device.View[[group / 4]uint32](x.Out.Bytes.Slice(x.Out.Offset, x.Out.Offset+int(p.N)))
	} else {
		out = words(&x.Out, p.N)
	}
	return true, Mixed(s, blocksFor(s, m.N), words(&x.X, p.N), y, out, truths, y16, y32, m)
}

// aligned reports whether the arrays begin at multiples of 16 bytes.
func (x *Operands) aligned() bool {
	return x.X.Bytes.Aligned(row.VectorBytes) && x.Out.Bytes.Aligned(row.VectorBytes) && (x.Y.Type == dtype.Invalid || x.Y.Bytes.Aligned(row.VectorBytes))
}

// words returns n elements of an array.
func words(a *Array, n uint32) device.Slice[row.Words] {
	size := a.Type.Size()
	return device.View[row.Words](a.Bytes.Slice(a.Offset*size, (a.Offset+int(n))*size))
}

// part returns n elements of x, or x if it is nil in the kernel.
func part[T any](x device.Slice[T], from int, n uint32) device.Slice[T] {
	if x.Len() == 0 {
		return x
	}
	return x.Slice(from, from+int(n))
}
