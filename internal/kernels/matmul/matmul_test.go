package matmul_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matmul"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

var shapes = []matmul.Shape{
	{M: 1, N: 8, K: 8}, {M: 128, N: 128, K: 64}, {M: 130, N: 264, K: 72}, {M: 5, N: 24, K: 200},
	{M: 17, N: 13, K: 9}, {M: 3, N: 2, K: 0},
}

func TestCPU(t *testing.T) { onDevice(t, cpu.Open, shapes[:2]) }

func TestInterpreter(t *testing.T) { onDevice(t, ptxinterp.Open, shapes) }

func TestCUDA(t *testing.T) {
	onDevice(t, gpu(t), append(shapes, matmul.Shape{M: 1000, N: 2056, K: 1032}, matmul.Shape{M: 2176, N: 4352, K: 4104}))
}

// gpu returns a function that opens the first GPU, or skips the test.
func gpu(t testing.TB) func() (*device.Device, error) {
	if _, err := cuda.List(); err != nil {
		t.Skip(err)
	}
	return func() (*device.Device, error) { return cuda.Open(0) }
}

func onDevice(t *testing.T, open func() (*device.Device, error), shapes []matmul.Shape) {
	t.Parallel()
	_, s := opened(t, open)
	for _, shape := range shapes {
		p := newProblem(shape)
		for _, v := range matmul.Versions() {
			if v.Fits(shape) {
				t.Run(fmt.Sprintf("%v/%dx%dx%d", v, shape.M, shape.N, shape.K), func(t *testing.T) { p.check(t, s, v) })
			}
		}
	}
}

// problem is two matrices, and expected elements of their product.
type problem struct {
	matmul.Shape
	a, b     []dtype.BF16
	elements []element // the elements of the product that are compared, computed for the first version
}

// element is an element of a product in float64, with the sum of the magnitudes that are added.
type element struct {
	row, column int
	want, size  float64
}

func newProblem(s matmul.Shape) *problem {
	random := rand.New(rand.NewPCG(uint64(s.M), uint64(s.N*s.K)))
	numbers := func(n int) []dtype.BF16 {
		x := make([]dtype.BF16, n)
		for i := range x {
			x[i] = dtype.BF16From32(float32(random.NormFloat64()))
		}
		return x
	}
	return &problem{Shape: s, a: numbers(s.M * s.K), b: numbers(s.K * s.N)}
}

// check multiplies and compares with the product in float64, within half a unit in the last place
// of bfloat16 and the possible error of float32 sums in any order.
func (p *problem) check(t *testing.T, s *device.Stream, v matmul.Version) {
	c := p.multiply(t, s, v)
	if p.elements == nil {
		p.elements = p.expected()
	}
	for _, e := range p.elements {
		got := c[e.row*p.N+e.column].Float64()
		if off := math.Abs(got - e.want); !(off <= math.Abs(e.want)/256+e.size*float64(p.K+16)/(1<<22)) {
			t.Fatalf("c[%d][%d] is %v, want %v", e.row, e.column, got, e.want)
		}
	}
}

// expected returns all elements of the product, or of a large product, some of them.
func (p *problem) expected() []element {
	step := 1
	for p.M/step*(p.N/step) > 1<<14 && p.K > 512 {
		step += 2
	}
	elements := []element{}
	columns := make([][]float64, p.N)
	for i := 0; i < p.M; i += step {
		row := wide(p.a, i*p.K, 1, p.K)
		for j := (i / step * 7) % step; j < p.N; j += step {
			if columns[j] == nil {
				columns[j] = wide(p.b, j, p.N, p.K)
			}
			want, size := dot(row, columns[j])
			elements = append(elements, element{i, j, want, size})
		}
	}
	return elements
}

// wide converts n elements of a matrix, from index from on and step apart, to float64: the
// reference reads each of them often.
func wide[T interface{ Float64() float64 }](x []T, from, step, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = x[from+i*step].Float64()
	}
	return w
}

// dot returns the sum of the products, in order, and that of their magnitudes.
func dot(x, y []float64) (sum, size float64) {
	for i, v := range x {
		v *= y[i]
		sum, size = sum+v, size+math.Abs(v)
	}
	return sum, size
}

func (p *problem) multiply(t testing.TB, s *device.Stream, v matmul.Version) []dtype.BF16 {
	t.Helper()
	x, closing := p.upload(t, s)
	defer closing()
	c := make([]dtype.BF16, p.M*p.N)
	err := errors.Join(matmul.Launch(s, v, p.Shape, x), device.Download(s, c, x.C), s.Synchronize(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (p *problem) upload(t testing.TB, s *device.Stream) (matmul.Operands, func()) {
	t.Helper()
	a, err1 := device.Upload(s, p.a)
	b, err2 := device.Upload(s, p.b)
	c, err3 := device.MakeDirty[dtype.BF16](s, p.M*p.N)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return matmul.Operands{A: a.All(), B: b.All(), C: c.All()}, func() {
		if err := errors.Join(a.Close(), b.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestShapes(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := newProblem(matmul.Shape{M: 4, N: 12, K: 8})
	x, closing := p.upload(t, s)
	defer closing()
	for _, c := range []struct {
		v     matmul.Version
		shape matmul.Shape
	}{
		{matmul.Plain, matmul.Shape{M: 4, N: 12, K: 7}}, {matmul.Plain, matmul.Shape{M: -4, N: -12, K: -8}},
		{matmul.Streaming, p.Shape},
	} {
		if err := matmul.Launch(s, c.v, c.shape, x); !errors.Is(err, matmul.ErrShape) {
			t.Errorf("%v of %+v: %v, want ErrShape", c.v, c.shape, err)
		}
	}
	if got := matmul.Best(device.Capability{Major: 9}, p.Shape); got != matmul.Blocked {
		t.Errorf("the best for %+v is %v", p.Shape, got)
	}
	if got := matmul.Best(device.Capability{Major: 9}, matmul.Shape{M: 1, N: 64, K: 64}); got != matmul.Roles {
		t.Errorf("the best for rows of 64 is %v", got)
	}
	for shape, want := range map[matmul.Shape]matmul.Version{
		{M: 4096, N: 4096, K: 4096}: matmul.Broad, {M: 1, N: 4096, K: 4096}: matmul.Streaming, {M: 9, N: 9, K: 9}: matmul.Blocked,
	} {
		if got := matmul.Best(device.Capability{Major: 8}, shape); got != want {
			t.Errorf("the best for %+v is %v, want %v", shape, got, want)
		}
	}
}

// TestOrders runs warps in other orders: a warp that runs ahead must wait for its data.
func TestOrders(t *testing.T) {
	p := newProblem(matmul.Shape{M: 130, N: 264, K: 328})
	for seed := range uint64(3) {
		o := ptxinterp.Checked()
		o.Seed = 1 + seed
		_, s := opened(t, func() (*device.Device, error) { return ptxinterp.OpenWith(o) })
		for _, v := range []matmul.Version{matmul.Groups, matmul.Roles} {
			p.check(t, s, v)
		}
	}
}
