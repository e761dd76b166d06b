package safetensors_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// python is a Python interpreter with the packages safetensors and numpy.
type python string

// needPython returns the interpreter that the environment variable GOPHERWARP_PYTHON names, or else python3, and skips the test if that has
// no package safetensors.
func needPython(t *testing.T) python {
	t.Helper()
	name := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), name, "-c", "import safetensors, numpy").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import safetensors, which pip installs; GOPHERWARP_PYTHON names another Python: %v\n%s", name, err, out)
	}
	return python(name)
}

// run runs testdata/judge.py with the given input and returns what it prints.
func (p python) run(t *testing.T, input string, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), string(p), append([]string{"testdata/judge.py"}, args...)...)
	c.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", p, args, err, &stderr)
	}
	return out
}

// same reports differences between the contents of two files, other than the order of tensors.
func same(t *testing.T, got, want *weights.File) {
	t.Helper()
	if diff := gocmp.Diff(want.Metadata, got.Metadata); diff != "" {
		t.Errorf("metadata differs (-want +got):\n%s", diff)
	}
	if len(got.Tensors) != len(want.Tensors) {
		t.Fatalf("%d tensors, want %d", len(got.Tensors), len(want.Tensors))
	}
	for _, w := range want.Tensors {
		g, err := got.Tensor(w.Name())
		if err != nil {
			t.Fatal(err)
		}
		if g.Type() != w.Type() || !slices.Equal(g.Shape(), w.Shape()) {
			t.Errorf("tensor %q is %s %v, want %s %v", w.Name(), g.Type(), g.Shape(), w.Type(), w.Shape())
		}
		if !bytes.Equal(bytesOf(t, g), bytesOf(t, w)) {
			t.Errorf("tensor %q has other bytes", w.Name())
		}
	}
}

func bytesOf(t *testing.T, x *weights.Tensor) []byte {
	t.Helper()
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tensor returns a tensor with ascending bytes.
func tensor(t *testing.T, name string, typ weights.Type, shape ...int) *weights.Tensor {
	t.Helper()
	spec := weights.Spec{Name: name, Type: typ, Shape: shape}
	size, err := spec.Size()
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i + len(name))
	}
	x, err := weights.NewTensor(spec, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func file(t *testing.T, m weights.Metadata, tensors ...*weights.Tensor) *weights.File {
	t.Helper()
	f, err := weights.New(weights.Contents{Metadata: m, Tensors: tensors})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// all returns a File with tensors of all types of the format, those with the smallest elements first.
func all(t *testing.T) *weights.File {
	t.Helper()
	var list []*weights.Tensor
	for typ := weights.F64; typ <= weights.C64; typ++ {
		list = append([]*weights.Tensor{tensor(t, typ.String(), typ, 3, 4)}, list...)
	}
	list = append(list, tensor(t, "scalar", weights.F32), tensor(t, "none", weights.I16, 0, 7), tensor(t, `quoted "ü" <&>`+"\n", weights.U8, 3))
	return file(t, weights.Metadata{{Key: "z", Value: "1"}, {Key: "", Value: "ü\x00"}}, list...)
}

// TestRoundTrip writes and reads tensors of all types.
func TestRoundTrip(t *testing.T) {
	want := all(t)
	name := filepath.Join(t.TempDir(), "a.safetensors")
	if err := safetensors.Save(name, want); err != nil {
		t.Fatal(err)
	}
	got, err := safetensors.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	for _, x := range got.Tensors {
		elements, size := x.Type().Block()
		if _, from, _ := x.Range(); elements == 1 && from%int64(size) != 0 {
			t.Errorf("tensor %q is at offset %d", x.Name(), from)
		}
	}
	if err := got.Map(); err != nil {
		t.Fatal(err)
	}
	if err := got.Guard(func() error { same(t, got, want); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := got.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWriteRefuses expects errors for what the format lacks.
func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		m    weights.Metadata
		x    *weights.Tensor
		want error
	}{
		{weights.Metadata{{Key: "k", Value: 1}}, tensor(t, "a", weights.U8), weights.ErrType},
		{weights.Metadata{{Key: "\xff", Value: ""}}, tensor(t, "a", weights.U8), weights.ErrFormat},
		{weights.Metadata{{Key: "k", Value: "\xff"}}, tensor(t, "a", weights.U8), weights.ErrFormat},
		{nil, tensor(t, "a", weights.Q8_0, 32), weights.ErrType},
		{nil, tensor(t, "__metadata__", weights.U8), weights.ErrType},
		{nil, tensor(t, "\xff", weights.U8), weights.ErrFormat},
	} {
		if err := safetensors.Write(&bytes.Buffer{}, file(t, c.m, c.x)); !errors.Is(err, c.want) {
			t.Errorf("%v %v: %v, want %v", c.m, c.x, err, c.want)
		}
	}
}

// TestIndex opens a model of two files.
func TestIndex(t *testing.T) {
	folder := t.TempDir()
	m := weights.Metadata{{Key: "format", Value: "pt"}}
	one, two := file(t, m, tensor(t, "a", weights.F32, 5), tensor(t, "b", weights.BF16, 2, 3)), file(t, m, tensor(t, "c", weights.F16, 7))
	for name, f := range map[string]*weights.File{"m-00001-of-00002.safetensors": one, "m-00002-of-00002.safetensors": two} {
		if err := safetensors.Save(filepath.Join(folder, name), f); err != nil {
			t.Fatal(err)
		}
	}
	const index = `{"metadata": {"total_size": 46, "more": [1, {}]}, "weight_map": {
		"c": "m-00002-of-00002.safetensors", "a": "m-00001-of-00002.safetensors", "b": "m-00001-of-00002.safetensors"}}`
	name := filepath.Join(folder, "model.safetensors.index.json")
	if err := os.WriteFile(name, []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	same(t, f, file(t, m, one.Tensors[0], one.Tensors[1], two.Tensors[0]))
	if f.Size() != 46 || len(f.Sources) != 2 {
		t.Errorf("%d bytes of %d files", f.Size(), len(f.Sources))
	}
	if err := f.Map(); err != nil {
		t.Fatal(err)
	}
	same(t, f, file(t, m, one.Tensors[0], one.Tensors[1], two.Tensors[0]))
}

// TestPythonReads has the reference implementation read what Save writes.
func TestPythonReads(t *testing.T) {
	python := needPython(t)
	f := all(t)
	name := filepath.Join(t.TempDir(), "a.safetensors")
	if err := safetensors.Save(name, f); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, x := range f.Tensors {
		shape := strings.ReplaceAll(fmt.Sprint(x.Shape()), " ", ", ")
		want = append(want, fmt.Sprintf("%s %s %s %x", x.Name(), x.Type(), shape, sha256.Sum256(bytesOf(t, x))))
	}
	slices.Sort(want)
	if got := string(python.run(t, "", "read", name)); got != "=ü\x00\nz=1\n"+strings.Join(want, "\n")+"\n" {
		t.Errorf("the reference implementation reads\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestPythonWrites reads what the reference implementation writes.
func TestPythonWrites(t *testing.T) {
	python := needPython(t)
	name := filepath.Join(t.TempDir(), "a.safetensors")
	python.run(t, "", "write", name)
	f, err := safetensors.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, e := range []weights.Entry{{Key: "format", Value: "np"}, {Key: "ü", Value: `"`}} {
		if v, ok := f.Metadata.Value(e.Key); !ok || v != e.Value {
			t.Errorf("metadata %s is %v", e.Key, v)
		}
	}
	for name, typ := range map[string]weights.Type{"float64": weights.F64, "uint16": weights.U16, "bool": weights.BOOL, "int8": weights.I8} {
		if x, err := f.Tensor(name); err != nil || x.Type() != typ || !slices.Equal(x.Shape(), []int{2, 3}) {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
	x, err := f.Tensor("int64")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := weights.Values[int64](x); err != nil || !slices.Equal(v, []int64{0, 1, 0, 1, 0, 1}) {
		t.Errorf("int64 is %v, %v", v, err)
	}
	x, err = f.Tensor("scalar")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := weights.Values[float32](x); err != nil || !slices.Equal(v, []float32{2.5}) || len(x.Shape()) != 0 {
		t.Errorf("scalar is %v, %v", v, err)
	}
}
