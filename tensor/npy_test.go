package tensor_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func TestNPYRoundTrip(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		for _, x := range []*tensor.Tensor{
			tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3), tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3).T(), tensor.From(s, []int64{7}),
			tensor.From(s, []bool{true, false}, 2), tensor.From(s, []uint16{}, 0, 2), tensor.From(s, []float64{1.5}, 1).To(dtype.Float16),
		} {
			var b bytes.Buffer
			if err := tensor.WriteNPY(t.Context(), &b, x); err != nil {
				t.Fatal(err)
			}
			b.WriteString("rest")
			y, err := tensor.ReadNPY(s, &b)
			if err != nil || b.String() != "rest" {
				t.Fatalf("%v: %v, %q left", x, err, b.String())
			}
			if x.DType() == dtype.Uint16 {
				same(t, y, []int{0, 2}, []uint16{}...)
				continue
			}
			values, err := tensor.Values[float64](t.Context(), x.To(dtype.Float64))
			if err != nil || y.DType() != x.DType() {
				t.Fatalf("%v, %v and %v", err, y.DType(), x.DType())
			}
			same(t, y.To(dtype.Float64), x.Shape(), values...)
		}
		return nil
	})
}

func TestNPYMistakes(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		if err := tensor.WriteNPY(t.Context(), &bytes.Buffer{}, tensor.Zeros(s, dtype.BFloat16, 2)); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("WriteNPY of BF16: %v", err)
		}
		var b bytes.Buffer
		if err := tensor.WriteNPY(t.Context(), &b, tensor.From(s, []float32{1, 2, 3}, 3)); err != nil {
			return err
		}
		good := b.String()
		for _, c := range []struct {
			data  string
			cause error
		}{
			{"", tensor.ErrFormat}, {"\x93NUMPX\x01\x00", tensor.ErrFormat}, {good[:5], tensor.ErrFormat}, {good[:9], tensor.ErrFormat}, {good[:50], tensor.ErrFormat},
			{good[:len(good)-1], tensor.ErrFormat}, {strings.Replace(good, "<f4", "<c8", 1), tensor.ErrDType}, {strings.Replace(good, "(3,)", "(-3)", 1), tensor.ErrFormat},
			{strings.Replace(good, "(3,), }        ", "(999999999,), }", 1), tensor.ErrFormat},
			{strings.Replace(good, "(3,), }                   ", "(999999999,99999999999), }", 1), tensor.ErrShape},
			{"\x93NUMPY\x02\x00\xff\xff\xff\x7f", tensor.ErrFormat},
		} {
			if _, err := tensor.ReadNPY(s, strings.NewReader(c.data)); !errors.Is(err, c.cause) {
				t.Errorf("ReadNPY of %.140q: %v", c.data, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNPZ writes and reads archives, and reads damaged ones.
func TestNPZ(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		var b bytes.Buffer
		want := map[string]*tensor.Tensor{"weight": tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3).T(), "layer/": tensor.Arange(s, 0), "scale": tensor.From(s, []bool{true})}
		if err := tensor.WriteNPZ(t.Context(), &b, want); err != nil {
			return err
		}
		good := b.String()
		got, err := tensor.ReadNPZ(s, strings.NewReader(good), int64(len(good)))
		if err != nil || len(got) != 3 {
			t.Fatalf("%v, %v", got, err)
		}
		same(t, got["weight"], []int{3, 2}, float32(1), 4, 2, 5, 3, 6)
		same(t, got["layer/"], []int{0}, []int64{}...)
		same(t, got["scale"], nil, true)
		for _, bad := range []string{
			"", good[:len(good)-1], strings.Replace(good, "<f4", "<f8", 1), strings.Replace(good, "\x00\x00\x80\x3f", "\x00\x00\x80\x4f", 1),
			strings.Replace(good, "NUMPY", "NUMPX", 1), strings.ReplaceAll(good, "layer/", "weight"),
		} {
			if _, err := tensor.ReadNPZ(s, strings.NewReader(bad), int64(len(bad))); !errors.Is(err, tensor.ErrFormat) {
				t.Errorf("ReadNPZ of %.100q: %v", bad, err)
			}
		}
		var e *tensor.Error
		if err := tensor.WriteNPZ(t.Context(), &b, map[string]*tensor.Tensor{"a": tensor.Zeros(s, dtype.BFloat16, 2)}); !errors.Is(err, tensor.ErrDType) || !errors.As(err, &e) {
			t.Errorf("WriteNPZ of BF16: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func FuzzReadNPY(f *testing.F) {
	f.Add([]byte("\x93NUMPY\x01\x00\x3a\x00{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n12345678"))
	f.Add([]byte("\x93NUMPY\x01\x00"))
	dev, err := cpu.Open()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
			x, err := tensor.ReadNPY(s, bytes.NewReader(data))
			if err == nil && x.Len()*x.DType().Size() > len(data) {
				t.Errorf("%v of %d bytes", x, len(data))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestNPYWithNumPy exchanges files with NumPy.
func TestNPYWithNumPy(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skip("python3 has no numpy")
	}
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours.npy"), filepath.Join(dir, "theirs.npy")
	err = onCPU(t, func(s *tensor.Scope) error {
		file, err := os.Create(ours)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := tensor.WriteNPY(t.Context(), file, tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3)); err != nil {
			return err
		}
		script := "import numpy, sys; x = numpy.load(sys.argv[1]); assert x.shape == (2, 3) and x.dtype == numpy.float32; numpy.save(sys.argv[2], numpy.asfortranarray(x * 2))"
		if out, err := exec.Command(python, "-c", script, ours, theirs).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		back, err := os.Open(theirs)
		if err != nil {
			return err
		}
		defer back.Close()
		x, err := tensor.ReadNPY(s, back)
		if err != nil {
			return err
		}
		same(t, x, []int{2, 3}, float32(2), 4, 6, 8, 10, 12)
		return exchangeNPZ(t, s, python)
	})
	if err != nil {
		t.Error(err)
	}
}

// exchangeNPZ exchanges archives with NumPy.
func exchangeNPZ(t *testing.T, s *tensor.Scope, python string) error {
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours.npz"), filepath.Join(dir, "theirs.npz")
	var b bytes.Buffer
	if err := tensor.WriteNPZ(t.Context(), &b, map[string]*tensor.Tensor{"a": tensor.From(s, []int32{1, 2}, 2), "b": tensor.From(s, []float64{3}, 1, 1)}); err != nil {
		return err
	}
	if err := os.WriteFile(ours, b.Bytes(), 0o600); err != nil {
		return err
	}
	script := "import numpy, sys; x = numpy.load(sys.argv[1]); assert sorted(x) == ['a', 'b'] and x['b'].shape == (1, 1); numpy.savez_compressed(sys.argv[2], x['a'] * 2, c=x['b'])"
	if out, err := exec.Command(python, "-c", script, ours, theirs).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(theirs)
	if err != nil {
		return err
	}
	list, err := tensor.ReadNPZ(s, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	same(t, list["arr_0"], []int{2}, int32(2), 4)
	same(t, list["c"], []int{1, 1}, float64(3))
	return nil
}
