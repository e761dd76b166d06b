package cublas

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/internal/library"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Activation is a function that is applied to every element of a result.
type Activation int

// The activations.
const (
	Identity Activation = iota
	ReLU                // max(x, 0)
	GELU                // x times the normal cumulative distribution function of x, in its tanh approximation
)

// Fusion describes products C = f(Alpha*A*B + Beta*C + Bias), such as a layer of a network, where f
// is the Activation. One kernel computes the whole product. A is an M x K matrix, or K x M with
// TransA. B is a K x N matrix, or N x K with TransB.
type Fusion struct {
	M, N, K        int
	TransA, TransB bool
	Strides        [3]int // elements from one row of A, B or C to the next; 0 means the row length
	Bias           bool   // whether a vector of N elements is added to every row
	Activation     Activation
	TF32           bool // compute float32 products on tensor cores, see Precision
	// Scaled multiplies A by one scalar and B by another, both stored on the device. Products of 8-bit
	// types need Scaled.
	Scaled bool
	// FastSums accumulates products of 8-bit elements in fewer bits: faster, but less exact.
	FastSums bool
}

// Operands are the arguments of one product. Set Bias if Fusion.Bias is set. Set ScaleA and ScaleB
// if Fusion.Scaled is set.
type Operands[A, C Number] struct {
	Alpha, Beta    float32
	A, B           device.Slice[A]
	C              device.Slice[C]
	Bias           device.Slice[C]
	ScaleA, ScaleB device.Slice[float32] // one element in each, at an address that is a multiple of 16
}

// Fused computes the products of a Fusion, with an algorithm that the library has chosen. Multiple goroutines may
// invoke the methods of a Fused simultaneously. Close a Fused before its Handle.
//
// For 8-bit types (F8E4M3 and F8E5M2, from compute capability 8.9 on), the library supports only an
// untransposed A and a transposed B, with sizes that are multiples of 16.
type Fused[A, C Number] struct {
	*fused
	stream  *device.Stream
	enqueue func() error // made once, so that calls allocate nothing
	need    [4]int       // elements of A, B, C and Bias
}

// fused is the part of a Fused that C code reads and writes. It is on the heap.
type fused struct {
	session *session
	object  library.Object // its lock is not used: the session's lock protects it
	run     func(cuda.Handle) error

	scaled    bool
	objects   [5]uintptr // description, layouts of B, A and C, preference
	algorithm algorithm
	found     int32
	value     uint64 // of the attribute that is being set
	addresses [3]uintptr
	set       [3]uintptr // the addresses that were last set in the library
	scalars   [2]float32
	args      [16]uintptr
	err       error
}

// pointers lists the attributes for the addresses in fused.addresses.
var pointers = [3]uintptr{descBias, descScaleA, descScaleB}

// Fuse lets the library choose an algorithm for products. If the library has no algorithm for the
// types on the GPU, the error is NotSupported.
func Fuse[A, C Number](h *Handle, f Fusion) (*Fused[A, C], error) {
	l, err := loadLt()
	if err != nil {
		return nil, err
	}
	return fuse[A, C](h, l, f)
}

func fuse[A, C Number](h *Handle, l toolkit.Loaded, f Fusion) (*Fused[A, C], error) {
	a, b, c := f.layouts(dataType[A](), dataType[C]())
	p := &Fused[A, C]{
		fused: &fused{session: h.session, object: library.Object{Library: l, Device: h.object.Device}, scaled: f.Scaled},
		need:  [4]int{a.need(), b.need(), c.need(), f.N},
	}
	if !f.Bias {
		p.need[3] = 0
	}
	if err := errors.Join(a.check("A"), b.check("B"), c.check("C")); err != nil {
		return nil, err
	}
	p.run = p.runOn
	h.object.Lock()
	defer h.object.Unlock()
	if h.object.Closed {
		return nil, ErrClosed
	}
	err := p.object.Within(func() error {
		return p.choose(f, [3]layout{b, a, c}) // the equation is that of the transposed matrices: B is first
	})
	if err != nil {
		return nil, errors.Join(err, p.destroy())
	}
	return p.On(h.stream), nil
}

// On returns a Fused like p for another stream of the same device, such as a stream that records a
// graph. See Handle.On.
func (p *Fused[A, C]) On(s *device.Stream) *Fused[A, C] {
	q := &Fused[A, C]{fused: p.fused, stream: s, need: p.need}
	q.enqueue = func() error { return cuda.Each(s, q.run) }
	return q
}

// layout describes a matrix to the library, whose columns are the rows of this package.
type layout struct{ kind, rows, cols, stride int }

func (f *Fusion) layouts(in, out int) (a, b, c layout) {
	side := func(i, kind, rows, cols int, transposed bool) layout {
		if transposed {
			rows, cols = cols, rows
		}
		stride := f.Strides[i]
		if stride == 0 {
			stride = max(1, cols)
		}
		return layout{kind, rows, cols, stride}
	}
	return side(0, in, f.M, f.K, f.TransA), side(1, in, f.K, f.N, f.TransB), side(2, out, f.M, f.N, false)
}

func (l layout) need() int { return max(0, l.rows-1)*l.stride + l.cols }

func (l layout) check(name string) error {
	if l.rows < 1 || l.cols < 1 || l.stride < l.cols {
		return fmt.Errorf("cublas: %s: %d rows of %d elements, stride %d: %w", name, l.rows, l.cols, l.stride, ErrShape)
	}
	return nil
}

// choose describes the product and requests an algorithm.
func (p *fused) choose(f Fusion, all [3]layout) error {
	compute := computeType(all[0].kind)
	if f.TF32 && all[0].kind == real32 {
		compute = sumTF32
	}
	if compute != sum32 && compute != sumTF32 {
		return fmt.Errorf("cublas: products of these types cannot be fused: %w", NotSupported)
	}
	if err := p.invoke(descCreate, p.address(0), uintptr(compute), real32); err != nil {
		return err
	}
	for i, l := range all {
		err := p.invoke(layoutCreate, p.address(1+i), uintptr(l.kind), uintptr(l.cols), uintptr(l.rows), uintptr(l.stride))
		if err != nil {
			return err
		}
	}
	if err := p.describe(f, all[2].kind); err != nil {
		return err
	}
	if err := p.invoke(preferenceCreate, p.address(4)); err != nil {
		return err
	}
	work := uint64(p.session.workspace.Len())
	if err := p.attribute(preferenceSet, p.objects[4], preferenceWork, work); err != nil {
		return err
	}
	err := p.invoke(heuristic, p.session.handle, p.objects[0], p.objects[1], p.objects[2], p.objects[3], p.objects[3],
		p.objects[4], 1, uintptr(unsafe.Pointer(&p.algorithm)), uintptr(unsafe.Pointer(&p.found)))
	if err == nil && (p.found < 1 || p.algorithm.state != int32(success)) {
		err = &Error{heuristic.String(), NotSupported}
	}
	return err
}

// describe sets what the product computes in addition to the multiplication.
func (p *fused) describe(f Fusion, out int) error {
	epilogue := [...]uint64{Identity: 0, ReLU: epilogueReLU, GELU: epilogueGELU}[f.Activation]
	if f.Bias {
		epilogue |= epilogueBias
	}
	set := func(attribute uintptr, value uint64) error {
		return p.attribute(descSet, p.objects[0], attribute, value)
	}
	err := errors.Join(set(descTransA, uint64(transposition(f.TransB))), set(descTransB, uint64(transposition(f.TransA))),
		set(descEpilogue, max(epilogueNone, epilogue)))
	if f.Bias {
		err = errors.Join(err, set(descBiasType, uint64(out)))
	}
	if f.FastSums {
		err = errors.Join(err, set(descFastSums, 1))
	}
	return err
}

// address returns the address of a library handle.
func (p *fused) address(i int) uintptr { return uintptr(unsafe.Pointer(&p.objects[i])) }

// sizes lists the sizes, in bytes, of the attributes that do not have 4 bytes.
var sizes = map[uintptr]uintptr{descBias: 8, descScaleA: 8, descScaleB: 8, descFastSums: 1}

// attribute sets an attribute of an object.
func (p *fused) attribute(f ltFunction, object, attribute uintptr, value uint64) error {
	size, ok := sizes[attribute]
	if f == preferenceSet {
		size = 8
	} else if !ok {
		size = 4
	}
	p.value = value
	return p.invoke(f, object, attribute, uintptr(unsafe.Pointer(&p.value)), size)
}

// invoke calls the library.
func (p *fused) invoke(f ltFunction, args ...uintptr) error { return p.object.Invoke(int(f), args...) }

// Multiply enqueues a product on the handle's stream.
func (p *Fused[A, C]) Multiply(o Operands[A, C]) error {
	s := p.session
	s.object.Lock()
	defer s.object.Unlock()
	l := p.stream.Loans()
	work := s.workspace.All().Lend(&l)
	a, b, c := o.A.Lend(&l), o.B.Lend(&l), o.C.Lend(&l)
	p.addresses, p.err = [3]uintptr{}, p.check(&o)
	if p.need[3] > 0 {
		p.addresses[0] = o.Bias.Lend(&l)
	}
	if p.scaled { // the library's A is B
		p.addresses[2], p.addresses[1] = o.ScaleA.Lend(&l), o.ScaleB.Lend(&l)
	}
	if (p.addresses[1]|p.addresses[2])%driver.SliceAlign != 0 && p.err == nil {
		p.err = fmt.Errorf("cublas: the scale of A or B: %w", device.ErrAlign)
	}
	p.scalars = [2]float32{o.Alpha, o.Beta}
	d := &p.objects
	p.args = [16]uintptr{
		s.handle, d[0], uintptr(unsafe.Pointer(&p.scalars[0])), b, d[1], a, d[2], uintptr(unsafe.Pointer(&p.scalars[1])),
		c, d[3], c, d[3], uintptr(unsafe.Pointer(&p.algorithm)), work, p.algorithm.work,
	}
	return l.Enqueue(p.enqueue)
}

// check checks that the operands have the sizes of the product.
func (p *Fused[A, C]) check(o *Operands[A, C]) error {
	for i, n := range [4]int{o.A.Len(), o.B.Len(), o.C.Len(), o.Bias.Len()} {
		if n < p.need[i] {
			return fmt.Errorf("cublas: %s has %d elements, the product needs %d: %w", [4]string{"A", "B", "C", "the bias"}[i], n, p.need[i], ErrShape)
		}
	}
	if a, b := o.ScaleA.Len(), o.ScaleB.Len(); p.scaled && (a != 1 || b != 1) || !p.scaled && a+b != 0 {
		return fmt.Errorf("cublas: the scales of A and B have %d and %d elements: %w", a, b, ErrShape)
	}
	return nil
}

// runOn calls the library for a stream. The session's lock is held.
func (p *fused) runOn(on cuda.Handle) error {
	if p.object.Closed || p.session.object.Closed {
		return ErrClosed
	}
	if p.err != nil {
		return p.err
	}
	p.args[15] = on.Stream
	if err := p.object.Bind(on, nothing); err != nil {
		return err
	}
	for i, a := range p.addresses {
		if a == p.set[i] {
			continue
		}
		if err := p.attribute(descSet, p.objects[0], pointers[i], uint64(a)); err != nil {
			return err
		}
		p.set[i] = a
	}
	return p.object.Run(int(matmul), p.args[:])
}

// nothing does nothing: the calls receive the stream as an argument.
func nothing(uintptr) error { return nil }

// Close frees the library's resources for the products. Graphs that recorded products remain valid.
func (p *fused) Close() error {
	p.session.object.Lock()
	defer p.session.object.Unlock()
	if p.object.Closed {
		return ErrClosed
	}
	p.object.Closed = true
	return p.destroy()
}

// destroy frees the objects that exist.
func (p *fused) destroy() error {
	return p.object.Within(func() error {
		var err error
		for i, f := range [5]ltFunction{descDestroy, layoutDestroy, layoutDestroy, layoutDestroy, preferenceDestroy} {
			if p.objects[i] != 0 {
				err = errors.Join(err, p.invoke(f, p.objects[i]))
			}
		}
		return err
	})
}
