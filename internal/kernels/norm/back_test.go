package norm

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestReferenceBack compares the derivatives of the reference with finite differences.
func TestReferenceBack(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	const n, h = 7, 1e-5
	for _, centred := range []bool{false, true} {
		ref := Reference{Weight: random[float32](r, n), Bias: random[float32](r, n), Epsilon: epsilon, Centred: centred}
		x, dy := row.Float64s(random[float32](r, n)), row.Float64s(random[float32](r, n))
		loss := func(ref Reference) (sum float64) {
			y, _ := ref.Row(x)
			for i := range y {
				sum += y[i] * dy[i]
			}
			return sum
		}
		g, _ := ref.Back(x, dy)
		for i := range x {
			near(t, "x", g.X[i], func(d float64) float64 {
				defer func(v float64) { x[i] = v }(x[i])
				x[i] += d * h
				return loss(ref)
			}, h)
			for _, p := range []struct {
				name   string
				values []float32
				got    []float64
			}{{"weight", ref.Weight, g.Weight}, {"bias", ref.Bias, g.Bias}} {
				near(t, p.name, p.got[i], func(d float64) float64 { // steps of a weight are exact in float32
					defer func(v float32) { p.values[i] = v }(p.values[i])
					p.values[i] = float32(math.Round(float64(p.values[i])*64)/64 + d*0.25)
					return loss(ref)
				}, 0.25)
			}
		}
	}
}

// near compares a derivative with the difference quotient of a function with steps of h.
func near(t *testing.T, name string, got float64, f func(d float64) float64, h float64) {
	t.Helper()
	if want := (f(1) - f(-1)) / (2 * h); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
		t.Errorf("derivative with respect to %s is %v, difference quotient %v", name, got, want)
	}
}

// backShapes have odd sizes, several chunks of rows, and more columns than fit in shared memory.
var backShapes = []Shape{{1, 1}, {3, 7}, {2, 16}, {33, 64}, {65, 136}, {3, 576}, {5000, 8}, {2, 1031}, {2, 20000}}

// TestBack compares derivatives of both norms in all forms with the reference.
func TestBack(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, shape := range backShapes {
					if kind := s.Device().Info().Kind; shape.Rows > 1000 && (name == "native" || kind == "interp") {
						continue
					}
					for variant := range 4 {
						if name == "native" && !sweep.Every(2, variant+i) || name == "interp" && shape.Columns <= 1000 && !sweep.Every(2, variant+i+variant/2) {
							continue // each combination in half of the shapes
						}
						if shape.Columns > 1000 && variant%3 != 0 { // long rows once without and once with everything
							continue
						}
						p := problem{shape: shape, form: form, centred: (i+variant)&1 != 0, bias: variant&1 != 0, residual: variant&2 != 0}
						checkBack[float32](t, s, p)
						if shape.Rows < 1000 || form == row.Wide { // the Plain form for bfloat16 is slow
							checkBack[dtype.BF16](t, s, p)
						}
					}
				}
			})
		}
	}
}

// checkBack compares derivatives of random rows with the reference. With a residual, another derivative is added in place; without a bias,
// those with respect to weights are not computed.
func checkBack[T Element](t *testing.T, s *device.Stream, p problem) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(p.shape.Columns), 9))
	n := p.shape.Rows * p.shape.Columns
	x, dy, add := random[T](r, n), random[T](r, n), make([]T, n)
	ref := Reference{Weight: random[float32](r, p.shape.Columns), Epsilon: epsilon, Centred: p.centred}
	o := Gradients[T]{X: kerneltest.Upload(t, s, x), DY: kerneltest.Upload(t, s, dy), DX: kerneltest.Upload(t, s, poison[T](n)), Weight: kerneltest.Upload(t, s, ref.Weight)}
	if p.residual {
		add = random[T](r, n)
		o.Add = kerneltest.Upload(t, s, add)
		o.DX = o.Add
	}
	if p.bias {
		o.Workspace = kerneltest.Upload(t, s, poison[float32](Workspace(p.shape)))
		o.DWeight = kerneltest.Upload(t, s, poison[float32](p.shape.Columns))
		if p.centred {
			o.DBias = kerneltest.Upload(t, s, poison[float32](p.shape.Columns))
		}
	}
	if err := runBack(s, p.form, function{p.shape, epsilon, p.centred}, o); err != nil {
		t.Fatal(err)
	}
	sums, sizes := compareBack(t, p, ref, gradientRows[T]{x, dy, add, kerneltest.Download(t, s, o.DX)})
	for i, to := range []device.Slice[float32]{o.DWeight, o.DBias} {
		if to.Len() == 0 {
			continue
		}
		want := [][]float64{sums.Weight, sums.Bias}[i]
		for j, got := range kerneltest.Download(t, s, to) {
			if size := [][]float64{sizes.Weight, sizes.Bias}[i][j]; !(math.Abs(float64(got)-want[j]) <= 4e-6*size) {
				t.Fatalf("%v of %T: weight or bias %d, column %d is %v, want %v", p, x[0], i, j, got, want[j])
			}
		}
	}
}

// gradientRows are the operands of a derivative and its result.
type gradientRows[T Element] struct{ x, dy, add, dx []T }

// compareBack compares dx with the reference, and returns the derivatives with respect to weights and biases.
func compareBack[T Element](t *testing.T, p problem, ref Reference, m gradientRows[T]) (sums, sizes Gradient) {
	t.Helper()
	relative, absolute := row.Rounding[T]()
	n := p.shape.Columns
	sums, sizes = Gradient{Weight: make([]float64, n), Bias: make([]float64, n)}, Gradient{Weight: make([]float64, n), Bias: make([]float64, n)}
	for i := range p.shape.Rows {
		g, size := ref.Back(row.Float64s(m.x[i*n:(i+1)*n]), row.Float64s(m.dy[i*n:(i+1)*n]))
		for j := range n {
			more := row.Float64(m.add[i*n+j])
			want, got := g.X[j]+more, row.Float64(m.dx[i*n+j])
			if !(math.Abs(got-want) <= relative*math.Abs(want)+4e-6*(size.X[j]+math.Abs(more))+absolute) {
				t.Fatalf("%v of %T: row %d, column %d is %v, want %v", p, m.x[0], i, j, got, want)
			}
			sums.Weight[j], sums.Bias[j] = sums.Weight[j]+g.Weight[j], sums.Bias[j]+g.Bias[j]
			sizes.Weight[j], sizes.Bias[j] = sizes.Weight[j]+size.Weight[j], sizes.Bias[j]+size.Bias[j]
		}
	}
	return sums, sizes
}

// TestBackUnaligned passes a workspace that does not begin at a multiple of 16 bytes.
func TestBackUnaligned(t *testing.T) {
	shape := Shape{3, 64}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			x, w := kerneltest.Upload(t, s, random[float32](rand.New(rand.NewPCG(1, 1)), 192)), kerneltest.Upload(t, s, make([]float32, 64))
			work := kerneltest.Upload(t, s, make([]float32, Workspace(shape)+1)).Slice(1, Workspace(shape)+1)
			o := Gradients[float32]{X: x, DY: x, DX: kerneltest.Upload(t, s, poison[float32](192)), Weight: w, DWeight: kerneltest.Upload(t, s, poison[float32](64)), Workspace: work}
			if err := RMSNormBack(s, shape, epsilon, o); err != nil {
				t.Fatal(err)
			}
			for i, g := range kerneltest.Download(t, s, o.DX) {
				if g != 0 { // as the weights are 0
					t.Fatalf("derivative %d is %v", i, g)
				}
			}
			for i, g := range kerneltest.Download(t, s, o.DWeight) {
				if !(g > 0) {
					t.Fatalf("derivative with respect to weight %d is %v", i, g)
				}
			}
		})
	}
}

// TestBackShapes passes operands that do not fit, and rows that do not exist.
func TestBackShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	floats := func(n int) device.Slice[float32] { return kerneltest.Upload(t, s, make([]float32, n)) }
	shape := Shape{2, 4}
	good := Gradients[float32]{X: floats(8), DY: floats(8), DX: floats(8), Weight: floats(4), DWeight: floats(4), Workspace: floats(Workspace(shape))}
	for name, change := range map[string]func(*Gradients[float32]){
		"x": func(g *Gradients[float32]) { g.X = floats(7) }, "dy": func(g *Gradients[float32]) { g.DY = floats(9) }, "dx": func(g *Gradients[float32]) { g.DX = floats(0) },
		"add": func(g *Gradients[float32]) { g.Add = floats(4) }, "weight": func(g *Gradients[float32]) { g.Weight = floats(0) }, "bias": func(g *Gradients[float32]) { g.DBias = floats(4) },
		"workspace": func(g *Gradients[float32]) { g.Workspace = floats(3) },
	} {
		g := good
		change(&g)
		if err := RMSNormBack(s, shape, epsilon, g); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	none := Gradients[float32]{X: floats(0), DY: floats(0), DX: floats(0), Weight: floats(4), DWeight: kerneltest.Upload(t, s, []float32{1, 2, 3, 4})}
	if err := LayerNormBack(s, Shape{0, 4}, epsilon, none); err != nil {
		t.Error(err)
	}
	for _, w := range kerneltest.Download(t, s, none.DWeight) {
		if w != 0 {
			t.Errorf("derivative of no rows is %v", w)
		}
	}
}
