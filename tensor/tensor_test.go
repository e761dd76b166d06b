package tensor_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// run calls f on every execution, and fails if a device has memory in use afterwards.
func run(t *testing.T, f func(t *testing.T, s *tensor.Scope) error) {
	for name, open := range kerneltest.Some() {
		t.Run(name, func(t *testing.T) {
			dev := kerneltest.Device(t, open)
			if err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error { return f(t, s) }); err != nil {
				t.Error(err)
			}
			if owners := dev.Owners(); len(owners) != 0 {
				t.Errorf("memory that was not freed: %v", owners)
			}
		})
	}
}

// same compares the shape and the elements of a tensor.
func same[T tensor.Element](t *testing.T, x *tensor.Tensor, shape []int, want ...T) {
	t.Helper()
	got, err := tensor.Values[T](t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Shape(), shape) || !slices.Equal(got, want) {
		t.Errorf("got %v %v, want %v %v", x.Shape(), got, shape, want)
	}
}

func TestFromAndValues(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		same(t, tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3), []int{2, 3}, float32(1), 2, 3, 4, 5, 6)
		same(t, tensor.From(s, []int64{-9}), []int{}, int64(-9))
		same(t, tensor.From(s, []bool{true, false}, 2), []int{2}, true, false)
		same(t, tensor.From(s, []dtype.BF16{dtype.BF16From32(1.5)}, 1), []int{1}, dtype.BF16From32(1.5))
		same[float64](t, tensor.From(s, []float64{}, 0, 3), []int{0, 3})
		return nil
	})
}

func TestViews(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		x := tensor.From(s, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4)
		same(t, x.T(), []int{4, 3}, float32(0), 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)
		same(t, x.Slice(1, 1, 3), []int{3, 2}, float32(1), 2, 5, 6, 9, 10)
		same(t, x.Slice(0, 1, 2).Slice(-1, 2, 4), []int{1, 2}, float32(6), 7)
		same(t, x.Slice(0, 2, 2), []int{0, 4}, []float32{}...)
		same(t, x.Reshape(2, -1), []int{2, 6}, float32(0), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
		same(t, x.T().Reshape(-1), []int{12}, float32(0), 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)
		same(t, x.Reshape(2, 3, 2).Transpose(0, 1).Slice(2, 1, 2), []int{3, 2, 1}, float32(1), 7, 3, 9, 5, 11)
		same(t, tensor.From(s, []uint8{1, 2, 3, 4}, 2, 2).T(), []int{2, 2}, uint8(1), 3, 2, 4)
		return nil
	})
}

// onCPU calls f in a scope of the CPU and returns Run's error.
func onCPU(t *testing.T, f func(s *tensor.Scope) error) error {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	err = tensor.Run(t.Context(), dev, f)
	if owners := dev.Owners(); len(owners) != 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
	return err
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause error
		text  string
		f     func(s *tensor.Scope) *tensor.Tensor
	}{
		{"length", tensor.ErrShape, "From: shapes do not fit: 3 values for [2 2]", func(s *tensor.Scope) *tensor.Tensor { return tensor.From(s, []float32{1, 2, 3}, 2, 2) }},
		{"negative", tensor.ErrShape, "a dimension of -1", func(s *tensor.Scope) *tensor.Tensor { return tensor.From(s, []float32{1}, -1) }},
		{"huge", tensor.ErrShape, "too many elements", func(s *tensor.Scope) *tensor.Tensor { return tensor.From(s, []float32{1}, 1<<40, 1<<40) }},
		{"reshape", tensor.ErrShape, "Reshape: shapes do not fit: [4 2] for [3 3]", func(s *tensor.Scope) *tensor.Tensor {
			return tensor.From(s, make([]float32, 9), 3, 3).Reshape(4, 2)
		}},
		{"infer", tensor.ErrShape, "[-1 2] for [3 3]", func(s *tensor.Scope) *tensor.Tensor {
			return tensor.From(s, make([]float32, 9), 3, 3).Reshape(-1, 2)
		}},
		{"two unknown", tensor.ErrShape, "[-1 -1]", func(s *tensor.Scope) *tensor.Tensor {
			return tensor.From(s, make([]float32, 9), 3, 3).Reshape(-1, -1)
		}},
		{"slice", tensor.ErrValue, "indices 2 to 4 of dimension 0 of [3]", func(s *tensor.Scope) *tensor.Tensor {
			return tensor.From(s, make([]float32, 3), 3).Slice(0, 2, 4)
		}},
		{"transpose", tensor.ErrValue, "dimensions -1 and 0 of [3]", func(s *tensor.Scope) *tensor.Tensor {
			return tensor.From(s, make([]float32, 3), 3).T()
		}},
		{"freed", tensor.ErrScope, "the tensor was freed at tensor_test.go:", func(s *tensor.Scope) *tensor.Tensor {
			var inner *tensor.Tensor
			s.Tidy(func() *tensor.Tensor {
				inner = tensor.From(s, make([]float32, 3), 3)
				return nil
			})
			return inner.Reshape(1, 3)
		}},
		{"nil", tensor.ErrValue, "a nil tensor", func(s *tensor.Scope) *tensor.Tensor { return s.Use(nil) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error {
				bad := c.f(s)
				if bad.Err() == nil || bad.Len() != 0 {
					t.Errorf("%v is not void", bad)
				}
				if again := bad.T().Reshape(7).Slice(5, 1, 0); again.Err() != bad.Err() {
					t.Errorf("the first mistake became %v", again.Err())
				}
				if _, err := tensor.Values[float32](t.Context(), bad); err != bad.Err() {
					t.Errorf("Values: %v", err)
				}
				return nil
			})
			var e *tensor.Error
			if !errors.Is(err, c.cause) || !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(e.Line, "tensor_test.go:") {
				t.Errorf("Run returned %v, want %q", err, c.text)
			}
		})
	}
}

func TestTidyFreesEarly(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		dev := s.Stream().Device()
		for range 10 {
			x := s.Tidy(func() *tensor.Tensor {
				tensor.From(s, make([]float32, 1000), 1000)
				kept := tensor.From(s, []float32{5}, 1)
				s.Keep(kept)
				return tensor.From(s, []float32{1, 2}, 2).Reshape(2, 1)
			})
			same(t, x, []int{2, 1}, float32(1), 2)
		}
		buffers := 0
		for _, o := range dev.Owners() {
			buffers += o.Buffers
		}
		if buffers != 20 {
			t.Errorf("%d buffers after ten calls of Tidy that keep two each", buffers)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTooMuchMemory runs out of memory, or exceeds the number of elements that kernels count.
func TestTooMuchMemory(t *testing.T) {
	huge := func(s *tensor.Scope) *tensor.Tensor {
		return tensor.Zeros(s, dtype.Float32, 1<<20).Unsqueeze(0).Expand(1<<30, 1<<20)
	}
	for name, f := range map[string]func(s *tensor.Scope) *tensor.Tensor{
		"Zeros":      func(s *tensor.Scope) *tensor.Tensor { return tensor.Zeros(s, dtype.Float32, 1<<50) },
		"Scale":      func(s *tensor.Scope) *tensor.Tensor { return huge(s).Scale(2) },
		"Contiguous": func(s *tensor.Scope) *tensor.Tensor { return huge(s).Contiguous() },
		"Sum":        func(s *tensor.Scope) *tensor.Tensor { return huge(s).Sum() },
		"Sum1":       func(s *tensor.Scope) *tensor.Tensor { return huge(s).Sum(1) },
		"ArgMax":     func(s *tensor.Scope) *tensor.Tensor { return huge(s).ArgMax(0) },
		"Softmax":    func(s *tensor.Scope) *tensor.Tensor { return huge(s).Softmax(0) },
		"MatMul":     func(s *tensor.Scope) *tensor.Tensor { x := huge(s).Slice(0, 0, 1); return x.T().MatMul(x) },
	} {
		t.Run(name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error {
				if y := f(s); y.Err() == nil {
					t.Errorf("%s", y)
				}
				return nil
			})
			var e *tensor.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Line, "tensor_test.go:") {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

func TestTensorsOfAnEndedScope(t *testing.T) {
	var x *tensor.Tensor
	if err := onCPU(t, func(s *tensor.Scope) error {
		x = tensor.From(s, []float32{1}, 1)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := tensor.Values[float32](t.Context(), x); !errors.Is(err, tensor.ErrScope) {
		t.Errorf("Values after Run: %v", err)
	}
	if y := x.Reshape(1, 1); !errors.Is(y.Err(), tensor.ErrScope) {
		t.Errorf("Reshape after Run: %v", y.Err())
	}
	err := onCPU(t, func(s *tensor.Scope) error {
		y := tensor.From(s, []float32{1}, 1)
		add(y, x)
		return nil
	})
	if !errors.Is(err, tensor.ErrScope) {
		t.Errorf("an operation with a tensor of an ended scope: %v", err)
	}
}

// TestTwoScopes mixes tensors of two devices, and of two goroutines: the error names the lines of both calls of Run, and that of the
// operation, and the Scopes of other tensors go on.
func TestTwoScopes(t *testing.T) {
	all := regexp.MustCompile(`: scope: tensors of two scopes, which began at tensor_test.go:\d+ and tensor_test.go:\d+ \(tensor_test.go:\d+\)$`)
	other := make(chan *tensor.Tensor)
	done := make(chan bool)
	finished := make(chan error)
	go func() {
		finished <- onCPU(t, func(s *tensor.Scope) error {
			x := tensor.From(s, []float32{1, 2}, 2)
			other <- x
			<-done
			same(t, x.Scale(2), []int{2}, float32(2), 4)
			return nil
		})
	}()
	x := <-other
	for name, f := range map[string]func(y *tensor.Tensor) *tensor.Tensor{
		"Add": func(y *tensor.Tensor) *tensor.Tensor { return y.Add(x) },
		"Use": func(y *tensor.Tensor) *tensor.Tensor { return y.Scope().Use(x) },
	} {
		err := onCPU(t, func(s *tensor.Scope) error {
			f(tensor.From(s, []float32{1, 2}, 2))
			return nil
		})
		if !errors.Is(err, tensor.ErrScope) || !all.MatchString(err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(done)
	if err := <-finished; err != nil {
		t.Error(err)
	}
}

// add is an operation of a program's own.
func add(x, y *tensor.Tensor) *tensor.Tensor {
	return tensor.Op{Name: "Add", In: []*tensor.Tensor{x, y}, DType: x.DType(), Shape: x.Shape(), Launch: func(s *device.Stream, out *tensor.Tensor) error {
		return errors.New("never launched")
	}}.Apply()
}

func TestFailureOfALaunch(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		x := tensor.From(s, []float32{1}, 1)
		if y := add(x, x); y.Err() == nil {
			t.Error("the result is not void")
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "tensor: Add: never launched (tensor_test.go:") {
		t.Errorf("Run: %v", err)
	}
}

func TestWrappedMemory(t *testing.T) {
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
	b, err := device.Upload(s, []int32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p, err := tensor.Wrap(b.All(), 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tensor.Wrap(b.All(), 3); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("Wrap of 4 elements as [3]: %v", err)
	}
	for range 2 {
		err := tensor.RunOn(t.Context(), s, func(s *tensor.Scope) error {
			same(t, s.Use(p).T(), []int{2, 2}, int32(1), 3, 2, 4)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if y := p.T(); !errors.Is(y.Err(), tensor.ErrScope) {
		t.Errorf("an operation without a scope: %v", y.Err())
	}
}

func TestRunReturnsWhatIsFirst(t *testing.T) {
	other := errors.New("other")
	err := onCPU(t, func(s *tensor.Scope) error {
		tensor.From(s, []float32{1}, 2)
		return other
	})
	if !errors.Is(err, other) || errors.Is(err, tensor.ErrShape) {
		t.Errorf("f's error and a mistake: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := tensor.Run(ctx, dev, func(s *tensor.Scope) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Run with a context that is done: %v", err)
	}
}

func TestSliceOf(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4}, 2, 2)
		if y, err := tensor.SliceOf[float32](x.Slice(0, 1, 2)); err != nil || y.Len() != 2 {
			t.Errorf("SliceOf: %d elements, %v", y.Len(), err)
		}
		if _, err := tensor.SliceOf[float64](x); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("SliceOf of another type: %v", err)
		}
		if _, err := tensor.SliceOf[float32](x.T()); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("SliceOf of a transpose: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestGraph records operations as a graph and replays it with other operands.
func TestGraph(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	x, err := device.Upload(stream, []float32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	y, err := device.Make[float32](stream, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	g, err := dev.Capture(func(s *device.Stream) error {
		return tensor.RunOn(t.Context(), s, func(s *tensor.Scope) error {
			in, err := tensor.Wrap(x.All(), 2, 2)
			if err != nil {
				return err
			}
			out, err := tensor.SliceOf[float32](s.Use(in).T().Contiguous())
			if err != nil {
				return err
			}
			return device.Copy(s.Stream(), y.All(), out)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, v := range [][]float32{{1, 2, 3, 4}, {5, 6, 7, 8}} {
		got := make([]float32, 4)
		if err := errors.Join(device.UploadTo(stream, x.All(), v), g.Launch(stream), device.Download(stream, got, y), stream.Synchronize(t.Context())); err != nil {
			t.Fatal(err)
		}
		if want := []float32{v[0], v[2], v[1], v[3]}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
