package gguf_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// same reports differences between the contents of two files.
func same(t *testing.T, got, want *weights.File) {
	t.Helper()
	if diff := cmp.Diff(want.Metadata, got.Metadata, cmpopts.EquateNaNs()); diff != "" {
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

// everything has a value of each metadata type.
var everything = weights.Metadata{
	{Key: "u8", Value: uint8(255)}, {Key: "i8", Value: int8(-128)}, {Key: "u16", Value: uint16(65535)}, {Key: "i16", Value: int16(-32768)},
	{Key: "u32", Value: uint32(math.MaxUint32)}, {Key: "i32", Value: int32(math.MinInt32)}, {Key: "f32", Value: float32(0.5)},
	{Key: "bool", Value: true}, {Key: "string", Value: "héllo\xff"}, {Key: "u64", Value: uint64(math.MaxUint64)},
	{Key: "i64", Value: int64(math.MinInt64)}, {Key: "f64", Value: 0.1},
	{Key: "u8s", Value: []uint8{1, 2}}, {Key: "i8s", Value: []int8{-1}}, {Key: "u16s", Value: []uint16{1}}, {Key: "i16s", Value: []int16{-2}},
	{Key: "u32s", Value: []uint32{}}, {Key: "i32s", Value: []int32{-3, 4}}, {Key: "f32s", Value: []float32{1, float32(math.Inf(-1))}},
	{Key: "bools", Value: []bool{true, false}}, {Key: "strings", Value: []string{"", "a", "\x00"}}, {Key: "u64s", Value: []uint64{5}},
	{Key: "i64s", Value: []int64{-6}}, {Key: "f64s", Value: []float64{math.MaxFloat64}},
	{Key: "nested", Value: []any{[]int32{1}, []string{"b"}, []any{[]bool{true}}, []any{}}},
}

// tensorTypes are all types of tensors of GGUF files.
func tensorTypes() []weights.Type {
	plain := []weights.Type{weights.F64, weights.F32, weights.F16, weights.BF16, weights.I64, weights.I32, weights.I16, weights.I8}
	for typ := weights.Q4_0; typ <= weights.Q1_0; typ++ {
		plain = append(plain, typ)
	}
	return plain
}

// TestRoundTrip writes and reads values of all metadata types and tensors of all types.
func TestRoundTrip(t *testing.T) {
	tensors := []*weights.Tensor{tensor(t, "scalar", weights.F32), tensor(t, "none", weights.F16, 3, 0), tensor(t, "four", weights.I8, 2, 3, 4, 5)}
	for _, typ := range tensorTypes() {
		tensors = append(tensors, tensor(t, typ.String(), typ, 3, 256))
	}
	for _, alignment := range []uint32{1, 32, 4096} {
		m := append(slices.Clone(everything), weights.Entry{Key: "general.alignment", Value: alignment})
		want := file(t, m, tensors...)
		name := filepath.Join(t.TempDir(), "a.gguf")
		if err := gguf.Save(name, want); err != nil {
			t.Fatal(err)
		}
		got, err := gguf.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		for _, x := range got.Tensors {
			if _, from, _ := x.Range(); from%int64(alignment) != 0 {
				t.Errorf("alignment %d: tensor %q is at offset %d", alignment, x.Name(), from)
			}
		}
		if err := got.Map(); err != nil {
			t.Fatal(err)
		}
		if err := got.Guard(func() error { same(t, got, want); return nil }); err != nil {
			t.Fatal(err)
		}
		if got.Format != "GGUF 3" {
			t.Errorf("the format is %q", got.Format)
		}
		if err := got.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVersion2 reads a file of version 2, whose shape has the innermost dimension first.
func TestVersion2(t *testing.T) {
	r := newRaw(1, 0)
	r[4] = 2
	f, err := r.tensor("a", 0, 3, 2).data(24).read()
	if err != nil {
		t.Fatal(err)
	}
	if shape := f.Tensors[0].Shape(); f.Format != "GGUF 2" || !slices.Equal(shape, []int{2, 3}) {
		t.Errorf("%s has the shape %v", f.Format, shape)
	}
}

// TestWriteRefuses expects errors for what the format lacks.
func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		m    weights.Metadata
		x    *weights.Tensor
		want error
	}{
		{weights.Metadata{{Key: "k", Value: 1}}, nil, weights.ErrType},
		{weights.Metadata{{Key: "k", Value: nil}}, nil, weights.ErrType},
		{weights.Metadata{{Key: "k", Value: []any{1}}}, nil, weights.ErrType},
		{weights.Metadata{{Key: "k", Value: []any{[]any{[]any{[]any{}}}}}}, nil, weights.ErrFormat},
		{weights.Metadata{{Key: strings.Repeat("k", 1<<16), Value: true}}, nil, weights.ErrFormat},
		{weights.Metadata{{Key: "\xff", Value: true}}, nil, weights.ErrFormat},
		{weights.Metadata{{Key: "general.alignment", Value: uint32(3)}}, nil, weights.ErrFormat},
		{nil, tensor(t, "a", weights.F8_E4M3, 1), weights.ErrType},
		{nil, tensor(t, "a", weights.F32, 1, 1, 1, 1, 1), weights.ErrFormat},
		{nil, tensor(t, "a", weights.Q8_0, 2, 16), weights.ErrFormat},
		{nil, tensor(t, "\xff", weights.F32, 1), weights.ErrFormat},
	} {
		tensors := slices.DeleteFunc([]*weights.Tensor{c.x}, func(x *weights.Tensor) bool { return x == nil })
		if err := gguf.Write(&bytes.Buffer{}, file(t, c.m, tensors...)); !errors.Is(err, c.want) {
			t.Errorf("%v %v: %v, want %v", c.m, c.x, err, c.want)
		}
	}
}

// saved returns f written to a single file and opened.
func saved(t *testing.T, f *weights.File) *weights.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "saved.gguf")
	if err := gguf.Save(name, f); err != nil {
		t.Fatal(err)
	}
	again, err := gguf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
	return again
}

// part returns the metadata of part number n of count.
func part(n, count int, more ...weights.Entry) weights.Metadata {
	return append(weights.Metadata{{Key: "split.no", Value: uint16(n)}, {Key: "split.count", Value: uint16(count)}}, more...)
}

// TestSplit opens a model of three files by each of them.
func TestSplit(t *testing.T) {
	folder := t.TempDir()
	total := weights.Entry{Key: "split.tensors.count", Value: int32(3)}
	parts := []*weights.File{
		file(t, part(0, 3, total, weights.Entry{Key: "general.name", Value: "split"})),
		file(t, part(1, 3, total), tensor(t, "a", weights.F32, 5), tensor(t, "b", weights.Q8_0, 2, 32)),
		file(t, part(2, 3, total), tensor(t, "c", weights.F16, 7)),
	}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = filepath.Join(folder, fmt.Sprintf("m-%05d-of-00003.gguf", i+1))
		if err := gguf.Save(names[i], p); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		f, err := gguf.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want := file(t, weights.Metadata{{Key: "general.name", Value: "split"}}, parts[1].Tensors[0], parts[1].Tensors[1], parts[2].Tensors[0])
		same(t, f, want)
		same(t, saved(t, f), want)
		if from, _, _ := f.Tensors[2].Range(); from != names[2] {
			t.Errorf("tensor c is in %s", from)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fails := func(what, want string) {
		t.Helper()
		if _, err := gguf.Open(names[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	save := func(name string, f *weights.File) {
		t.Helper()
		if err := gguf.Save(name, f); err != nil {
			t.Fatal(err)
		}
	}
	save(names[2], file(t, part(2, 3, total)))
	fails("a tensor is missing", "2 tensors, not 3")
	save(names[2], file(t, part(2, 3, total), tensor(t, "a", weights.F16, 7)))
	fails("a tensor is there twice", `name "a"`)
	save(names[2], file(t, part(1, 3, total), tensor(t, "c", weights.F16, 7)))
	fails("a part is there twice", "part 3 of 3")
	if err := os.Remove(names[2]); err != nil {
		t.Fatal(err)
	}
	fails("a part is missing", "m-00003-of-00003.gguf")
	save(filepath.Join(folder, "other.gguf"), parts[0])
	if _, err := gguf.Open(filepath.Join(folder, "other.gguf")); !errors.Is(err, weights.ErrFormat) || !strings.Contains(err.Error(), "should be named") {
		t.Errorf("a part with another name: %v", err)
	}
}

// TestPythonReads has the Python package gguf read what Save writes.
func TestPythonReads(t *testing.T) {
	python := needPython(t)
	q := tensor(t, "q", weights.Q4_K, 2, 256)
	m := weights.Metadata{{Key: "general.architecture", Value: "test"}, {Key: "n", Value: int32(-3)}, {Key: "s", Value: []string{"x", "ü"}}}
	name := filepath.Join(t.TempDir(), "a.gguf")
	if err := gguf.Save(name, file(t, m, q, tensor(t, "w", weights.F32, 2, 3))); err != nil {
		t.Fatal(err)
	}
	got := string(python.run(t, nil, "read", name))
	want := "general.architecture ['STRING'] test\nn ['INT32'] -3\ns ['ARRAY', 'STRING'] ['x', 'ü']\n" +
		fmt.Sprintf("q Q4_K [2, 256] %x\n", sha256.Sum256(bytesOf(t, q))) +
		fmt.Sprintf("w F32 [2, 3] %x\n", sha256.Sum256(bytesOf(t, tensor(t, "w", weights.F32, 2, 3))))
	if got != want {
		t.Errorf("the Python package reads\n%swant\n%s", got, want)
	}
}

// TestPythonWrites reads what the Python package gguf writes.
func TestPythonWrites(t *testing.T) {
	python := needPython(t)
	name := filepath.Join(t.TempDir(), "a.gguf")
	python.run(t, nil, "write", name)
	f, err := gguf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, e := range everything[:12] {
		want := e.Value
		if want == "héllo\xff" {
			want = "héllo"
		}
		if got, ok := f.Metadata.Value(e.Key); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v of type %T, want %v of type %T", e.Key, got, got, want, want)
		}
	}
	if s, err := weights.Get[[]string](f.Metadata, "strings"); err != nil || !slices.Equal(s, []string{"a", "", "ü"}) {
		t.Errorf("strings are %q, %v", s, err)
	}
	if n, err := weights.Get[[]int32](f.Metadata, "ints"); err != nil || !slices.Equal(n, []int32{1, -2, 3}) {
		t.Errorf("ints are %v, %v", n, err)
	}
	a, err := f.Tensor("a")
	if err != nil {
		t.Fatal(err)
	}
	if w, err := weights.Values[float32](a); err != nil || !slices.Equal(w, []float32{0, 1, 2, 3, 4, 5}) || !slices.Equal(a.Shape(), []int{2, 3}) {
		t.Errorf("a is %v %v, %v", a.Shape(), w, err)
	}
	q, err := f.Tensor("q")
	if err != nil {
		t.Fatal(err)
	}
	if q.Type() != weights.Q8_0 || !slices.Equal(q.Shape(), []int{2, 32}) {
		t.Errorf("q is %s %v", q.Type(), q.Shape())
	}
}
