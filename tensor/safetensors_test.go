package tensor_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestSafetensors saves tensors of all types, and one that is not contiguous, and loads them.
func TestSafetensors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.safetensors")
	run(t, func(t *testing.T, s *tensor.Scope) error {
		list := map[string]*tensor.Tensor{"t": tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3).T(), "scalar": tensor.From(s, []int64{7}), "empty": tensor.From(s, []uint16{}, 0, 2)}
		for _, of := range types {
			list[of.String()] = tensor.From(s, []float64{0, 1, 2}, 3).To(of)
		}
		if err := tensor.SaveSafetensors(t.Context(), name, list); err != nil {
			return err
		}
		loaded, err := tensor.LoadSafetensors(s, name)
		if err != nil {
			return err
		}
		if got, want := slices.Sorted(maps.Keys(loaded)), slices.Sorted(maps.Keys(list)); !slices.Equal(got, want) {
			t.Fatalf("names %v, want %v", got, want)
		}
		for key, want := range list {
			got := loaded[key]
			if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
				t.Errorf("%s: %v %v, want %v %v", key, got.DType(), got.Shape(), want.DType(), want.Shape())
			} else if want.Len() > 0 && !slices.Equal(numbersOf(t, got), numbersOf(t, want)) {
				t.Errorf("%s: %v, want %v", key, got, want)
			}
		}
		return nil
	})
}

// TestMistakesOfSafetensors checks the causes of errors.
func TestMistakesOfSafetensors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.safetensors")
	if err := os.WriteFile(bad, []byte("no header"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := onCPU(t, func(s *tensor.Scope) error {
		for name, cause := range map[string]error{bad: weights.ErrFormat, filepath.Join(dir, "none"): os.ErrNotExist} {
			if _, err := tensor.LoadSafetensors(s, name); !errors.Is(err, cause) {
				t.Errorf("LoadSafetensors: %v, want %v", err, cause)
			}
		}
		if err := tensor.SaveSafetensors(t.Context(), bad, map[string]*tensor.Tensor{"x": nil}); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("SaveSafetensors of a nil tensor: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestGonum converts matrices as docs/tensor.md says.
func TestGonum(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		m := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
		rows, columns := m.Dims()
		x := tensor.From(s, mat.DenseCopyOf(m).RawMatrix().Data, rows, columns)
		v, err := tensor.Values[float64](t.Context(), x.MatMul(x.T()))
		if err != nil {
			return err
		}
		var want mat.Dense
		want.Mul(m, m.T())
		if got := mat.NewDense(2, 2, v); !mat.Equal(got, &want) || x.DType() != dtype.Float64 {
			t.Errorf("%v, want %v", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
