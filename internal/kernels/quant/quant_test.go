package quant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// trial is a product to test.
type trial struct {
	Shape
	rows int
	add  bool
}

// trials has partial tiles and groups, all numbers of columns of the tensor cores' matrices, and more vectors than one kernel takes.
var trials = []trial{
	{Shape{1, 32}, 1, false}, {Shape{16, 64}, 2, true}, {Shape{37, 96}, 9, false}, // for the plain kernels
	{Shape{1, 128}, 1, false}, {Shape{40, 576}, 1, true}, {Shape{67, 288}, 2, false}, {Shape{33, 160}, 3, true},
	{Shape{53, 544}, 1, false}, {Shape{35, 2336}, 4, true}, {Shape{16, 256}, 5, false}, {Shape{37, 224}, 8, false}, {Shape{19, 416}, 16, true}, {Shape{35, 128}, 17, false},
	{Shape{18, 2336}, 1, false}, {Shape{5, 128}, 0, false},
}

// TestMultiply compares products in all formats with the reference. The interpreter has a quarter of them in each format and pair of types, other
// executions on the CPU a third.
func TestMultiply(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for format, f := range formats {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, c := range trials {
					for k, test := range []func(*testing.T, *device.Stream, Format, trial){
						multiplyTest[dtype.BF16, dtype.BF16], multiplyTest[float32, float32], multiplyTest[dtype.BF16, float32], multiplyTest[float32, dtype.BF16],
					} {
						if name == "interp" && k > 0 && !slices.Contains([]Format{Q4_1, Q8_0, Q4_K, Q6_K}, f) {
							break // it is slow, and those formats have all kernels
						}
						if name == "cuda" || name == "interp" && sweep.Every(4, i+k/2+int(f)) || name != "interp" && sweep.Every(3, i+k+int(f)) {
							test(t, s, f, c)
						}
					}
				}
			})
		}
	}
}

// TestMultiplySlices multiplies vectors that do not fit in the shared memory of a block of threads.
func TestMultiplySlices(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for format, f := range formats {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				if name == "interp" && !slices.Contains([]Format{Q4_1, Q8_0, Q6_K}, f) {
					t.Skip("it is slow, and other formats have the same kernels")
				}
				multiplyTest[float32, float32](t, s, f, trial{Shape{18, 13024}, 3, true})
				multiplyTest[float32, float32](t, s, f, trial{Shape{18, 1760}, 16, true})
				multiplyTest[float32, dtype.BF16](t, s, f, trial{Shape{18, 1760}, 16, true})
				multiplyTest[dtype.BF16, dtype.BF16](t, s, f, trial{Shape{18, 8192}, 9, false})
			})
		}
	}
}

// TestMultiplyMany multiplies enough vectors for GPUs to convert the weights to bfloat16. Each format has one type on other devices.
func TestMultiplyMany(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for format, f := range formats {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				if name == "cuda" || sweep.Every(2, int(f)) {
					multiplyTest[float32, float32](t, s, f, trial{Shape{19, 160}, mostRows + 1, true})
				}
				if name == "cuda" || sweep.Every(2, int(f)+1) {
					multiplyTest[dtype.BF16, dtype.BF16](t, s, f, trial{Shape{19, 160}, mostRows + 1, false})
				}
			})
		}
	}
}

// tolerance returns the error of a product that is allowed, relative to the sum of the magnitudes of its terms: of float32 sums, or of
// rounding each factor to bfloat16.
func tolerance(s *device.Stream, m Matrix, widens bool) float64 {
	if row.FormFor(s) == row.Wide && widens && m.blocks() >= chunkSize {
		return 2 * 0x1p-8
	}
	return 4e-6
}

// multiplyTest compares products with the reference.
func multiplyTest[X, Y Element](t *testing.T, s *device.Stream, f Format, c trial) {
	t.Helper()
	c.Shape = c.in(f)
	m, w := upload(t, s, f, c.Shape)
	x, y := vector[X](c.rows*c.Columns), vector[Y](c.rows*c.Rows)
	if !c.add {
		y = slices.Repeat([]Y{row.From64[Y](math.NaN())}, len(y))
	}
	o := Operands[X, Y]{Rows: c.rows, X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, y), Add: c.add}
	o.Workspace = kerneltest.Upload(t, s, slices.Repeat([]float32{float32(math.NaN())}, Workspace[X, Y](s.Device(), m, c.rows)))
	if err := Multiply(s, m, o); err != nil {
		t.Fatalf("%T, %T, %+v: %v", o.X, o.Y, c, err)
	}
	got := kerneltest.Download(t, s, o.Y)
	want, size := reference(w, row.Float64s(x), c.Columns)
	relative, absolute := row.Rounding[Y]()
	for i, want := range want {
		if c.add {
			want += row.Float64(y[i])
		}
		if d := math.Abs(row.Float64(got[i]) - want); !(d <= tolerance(s, m, m.widens(c.rows))*size[i]+relative*math.Abs(want)+absolute) {
			t.Fatalf("%T, %T, %+v: row %d of vector %d is %v, want %v", *new(X), *new(Y), c, i%c.Rows, i/c.Rows, got[i], want)
		}
	}
}

// TestNotFinite tests that a NaN or an infinity reaches all products of its vector and no other.
func TestNotFinite(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for format, f := range formats {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					notFinite(t, s, f, 40+i, float32(bad))
				}
			})
		}
	}
}

func notFinite(t *testing.T, s *device.Stream, f Format, at int, bad float32) {
	t.Helper()
	shape := Shape{17, 160}.in(f)
	m, _ := upload(t, s, f, shape)
	x := vector[float32](3 * shape.Columns)
	x[shape.Columns+at] = bad
	o := Operands[float32, float32]{Rows: 3, X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, make([]float32, 3*shape.Rows))}
	o.Workspace = kerneltest.Upload(t, s, make([]float32, Workspace[float32, float32](s.Device(), m, 3)))
	if err := Multiply(s, m, o); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, o.Y) {
		if finite := !math.IsNaN(float64(got)) && !math.IsInf(float64(got), 0); finite == (i/shape.Rows == 1) {
			t.Fatalf("%v in vector 1: row %d of vector %d is %v", bad, i%shape.Rows, i/shape.Rows, got)
		}
	}
}

func TestGather(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for format, f := range formats {
			t.Run(name+"/"+format, func(t *testing.T) { gatherTest(t, kerneltest.Stream(t, open), f) })
		}
	}
}

func gatherTest(t *testing.T, s *device.Stream, f Format) {
	shape := Shape{37, 96}.in(f)
	m, w := upload(t, s, f, shape)
	rows := []int32{36, 0, 17, 17, -1, 37, 15, math.MaxInt32, math.MinInt32}
	y := kerneltest.Upload(t, s, slices.Repeat([]float32{5}, len(rows)*shape.Columns))
	if err := Gather(s, m, kerneltest.Upload(t, s, rows), y); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, y) {
		row, want := int(rows[i/shape.Columns]), float32(0)
		if row >= 0 && row < shape.Rows {
			want = w[row*shape.Columns+i%shape.Columns]
		}
		if got != want {
			t.Fatalf("row %d, column %d: %v, want %v", row, i%shape.Columns, got, want)
		}
	}
	if err := Gather(s, m, kerneltest.Upload(t, s, rows), y.Slice(0, 5)); !errors.Is(err, ErrShape) {
		t.Errorf("Gather of 9 rows in 5 elements: %v", err)
	}
}

// TestShapes passes operands that do not fit.
func TestShapes(t *testing.T) {
	for _, s := range []Shape{{2, 32}, {1, 33}, {1, 0}, {-1, 32}} {
		if _, err := Pack(Q4_1, make([]byte, 20), s); !errors.Is(err, ErrShape) {
			t.Errorf("a block of %v: %v", s, err)
		}
	}
	for _, f := range []Format{-1, Q6_K + 1} {
		if _, err := Pack(f, nil, Shape{0, 32}); !errors.Is(err, ErrShape) {
			t.Errorf("format %d: %v", f, err)
		}
	}
	if _, err := Pack(Q4_K, make([]byte, 144), Shape{1, 288}); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "288 columns: Q4_K has blocks of 256") {
		t.Errorf("288 columns: %v", err)
	}
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	m, _ := upload(t, s, Q4_1, Shape{3, 64})
	x, y, work := kerneltest.Upload(t, s, make([]float32, 64)), kerneltest.Upload(t, s, make([]float32, 3)), kerneltest.Upload(t, s, make([]float32, 4))
	good := Operands[float32, float32]{Rows: 1, X: x, Y: y, Workspace: work}
	for i, bad := range []Operands[float32, float32]{{1, y, y, false, work}, {1, x, x, false, work}, {1, x, y, false, work.Slice(0, 3)}, {2, x, y, false, work}, {-1, x, y, false, work}} {
		if err := Multiply(s, m, bad); !errors.Is(err, ErrShape) {
			t.Errorf("bad operands %d: %v", i, err)
		}
	}
	if err := Multiply(s, m, good); err != nil {
		t.Error(err)
	}
	m.Minima = device.Slice[dtype.F16]{}
	if err := Multiply(s, m, good); !errors.Is(err, ErrShape) {
		t.Errorf("no minima: %v", err)
	}
	m, _ = upload(t, s, Q6_K, Shape{1, 256})
	m.Groups = device.Slice[uint16]{}
	if err := Gather(s, m, kerneltest.Upload(t, s, []int32{0}), kerneltest.Upload(t, s, make([]float32, 256))); !errors.Is(err, ErrShape) {
		t.Errorf("no groups: %v", err)
	}
}

// BenchmarkCPU reports GFLOP per CPU second, two operations for each weight: for a square matrix, and for those of a small model.
func BenchmarkCPU(b *testing.B) {
	for format, f := range formats {
		for _, c := range []trial{{Shape{4096, 4096}, 1, false}, {Shape{1536, 576}, 1, false}, {Shape{576, 1536}, 1, false}, {Shape{1536, 576}, 8, false}, {Shape{1536, 576}, 64, false}} {
			c.Shape = c.in(f)
			for name, open := range kerneltest.VectorUnits() {
				b.Run(fmt.Sprintf("%s/%dx%d/%d/%s", format, c.Shape.Rows, c.Columns, c.rows, name), func(b *testing.B) {
					s := kerneltest.Stream(b, open)
					m, _ := upload(b, s, f, c.Shape)
					o := Operands[float32, float32]{Rows: c.rows, X: kerneltest.Upload(b, s, vector[float32](c.rows*c.Columns)), Y: kerneltest.Upload(b, s, make([]float32, c.rows*c.Shape.Rows))}
					o.Workspace = kerneltest.Upload(b, s, make([]float32, Workspace[float32, float32](s.Device(), m, c.rows)))
					took := kerneltest.Measure(b, s, func() error { return Multiply(s, m, o) })
					kerneltest.ReportRate(b, 2*float64(c.rows)*float64(c.Shape.Rows)*float64(c.Columns), took)
				})
			}
		}
	}
}

// BenchmarkPack reports the bytes of a file that are repacked.
func BenchmarkPack(b *testing.B) {
	for format, f := range formats {
		b.Run(format, func(b *testing.B) {
			shape := Shape{64, 4096}
			data, _ := file(b, f, shape)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Pack(f, data, shape); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
