package weights_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights"
)

// tensor returns a tensor of bytes whose data ascends.
func tensor(t *testing.T, name string, shape ...int) *weights.Tensor {
	t.Helper()
	spec := weights.Spec{Name: name, Type: weights.U8, Shape: shape}
	size, err := spec.Size()
	if err != nil {
		t.Fatal(err)
	}
	x, err := weights.NewTensor(spec, bytes.NewReader(ascending(size)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ascending(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// opened returns a File with the tensors a and b, each half of a file of n bytes, and the file's name.
func opened(t *testing.T, n int) (*weights.File, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, ascending(n), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := weights.OpenSource(name)
	if err != nil {
		t.Fatal(err)
	}
	c := weights.Contents{Sources: []*weights.Source{s}}
	for i, x := range []string{"a", "b"} {
		x, err := s.Tensor(weights.Spec{Name: x, Type: weights.U8, Shape: []int{n / 2}}, int64(i*n/2))
		if err != nil {
			t.Fatal(err)
		}
		c.Tensors = append(c.Tensors, x)
	}
	f, err := weights.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // a test may have closed it
	return f, name
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		t     weights.Type
		shape []int
		size  int // or -1
	}{
		{weights.F32, nil, 4},
		{weights.F32, []int{2, 3}, 24},
		{weights.F32, []int{0}, 0},
		{weights.F32, []int{math.MaxInt, 0, math.MaxInt}, -1},
		{weights.Q4_1, []int{2, 64}, 80},
		{weights.Q4_1, []int{2, 31}, -1},
		{weights.Q6_K, []int{256}, 210},
		{weights.F4, []int{3}, -1},
		{weights.F4, []int{4}, 2},
		{weights.F6_E2M3, []int{8}, 6},
		{weights.U8, []int{math.MaxInt}, math.MaxInt},
		{weights.F16, []int{math.MaxInt}, -1},
		{weights.U8, []int{1 << 32, 1 << 32}, -1},
		{weights.U8, []int{-1}, -1},
		{weights.Invalid, []int{1}, -1},
		{weights.Type(255), []int{1}, -1},
	} {
		size, err := weights.Spec{Name: "x", Type: c.t, Shape: c.shape}.Size()
		if failed := errors.Is(err, weights.ErrFormat); failed != (c.size < 0) || !failed && size != c.size {
			t.Errorf("%s %v: %d bytes, %v; want %d", c.t, c.shape, size, err, c.size)
		}
	}
}

// TestTypes demands that names are unique and parse, and that element types have the size of their dtype.
func TestTypes(t *testing.T) {
	seen := map[string]bool{}
	for typ := weights.F64; typ <= weights.Q1_0; typ++ {
		if got, ok := weights.ParseType(typ.String()); !ok || got != typ || seen[typ.String()] {
			t.Errorf("type %d is named %s, which is the name of type %d, %v", typ, typ, got, ok)
		}
		seen[typ.String()] = true
		if _, size := typ.Block(); typ.DType() != dtype.Invalid && typ.DType().Size() != size {
			t.Errorf("%s has %d bytes, and %s has %d", typ, size, typ.DType(), typ.DType().Size())
		}
	}
	if _, ok := weights.ParseType("invalid"); ok {
		t.Error("invalid is a type")
	}
}

func TestMetadata(t *testing.T) {
	m := weights.Metadata{{Key: "s", Value: "text"}, {Key: "n", Value: uint32(7)}, {Key: "big", Value: uint64(math.MaxUint64)}, {Key: "minus", Value: int8(-1)}, {Key: "nil"}}
	if s, err := weights.Get[string](m, "s"); err != nil || s != "text" {
		t.Errorf("s is %q, %v", s, err)
	}
	for key, want := range map[string]error{"none": weights.ErrNotFound, "n": weights.ErrType, "nil": weights.ErrType} {
		if _, err := weights.Get[string](m, key); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", key, err, want)
		}
	}
	for key, want := range map[string]int{"n": 7, "minus": -1} {
		if n, err := m.Int(key); err != nil || n != want {
			t.Errorf("%s is %d, %v, want %d", key, n, err, want)
		}
	}
	for key, want := range map[string]error{"none": weights.ErrNotFound, "s": weights.ErrType, "big": weights.ErrType, "nil": weights.ErrType} {
		if _, err := m.Int(key); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", key, err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	f, _ := opened(t, 100)
	s := f.Sources[0]
	overlapping, err := s.Tensor(weights.Spec{Name: "c", Type: weights.U8, Shape: []int{2}}, 49)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := s.Tensor(weights.Spec{Name: "d", Type: weights.U8, Shape: []int{0}}, 20)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]weights.Contents{
		"names":   {Tensors: []*weights.Tensor{f.Tensors[0], tensor(t, "a", 1)}},
		"overlap": {Tensors: append(slices.Clone(f.Tensors), overlapping)},
		"keys":    {Metadata: weights.Metadata{{Key: "k"}, {Key: "k"}}},
	} {
		if _, err := weights.New(c); !errors.Is(err, weights.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := weights.New(weights.Contents{Tensors: append(slices.Clone(f.Tensors), empty)}); err != nil {
		t.Errorf("a tensor without elements within another: %v", err)
	}
	for _, offset := range []int64{-1, 99, 101, math.MaxInt64} {
		if _, err := s.Tensor(weights.Spec{Name: "x", Type: weights.U8, Shape: []int{2}}, offset); !errors.Is(err, weights.ErrFormat) {
			t.Errorf("offset %d: %v", offset, err)
		}
	}
}

// TestReadAt reads parts of tensors, mapped or not.
func TestReadAt(t *testing.T) {
	f, name := opened(t, 100)
	for range 2 { // the second time mapped
		b, err := f.Tensor("b")
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(io.NewSectionReader(b, 0, 50), ascending(100)[50:]); err != nil {
			t.Error(err)
		}
		p := make([]byte, 10)
		if n, err := b.ReadAt(p, 45); n != 5 || !errors.Is(err, io.EOF) || p[4] != 99 {
			t.Errorf("read across the end: %d, %v, %v", n, err, p)
		}
		for _, off := range []int64{-1, 51} {
			if n, err := b.ReadAt(p, off); n != 0 || err == nil {
				t.Errorf("read at %d: %d, %v", off, n, err)
			}
		}
		if all, err := b.Bytes(); err != nil || !bytes.Equal(all, ascending(100)[50:]) || cap(all) != 50 {
			t.Errorf("Bytes: %v, %v", all, err)
		}
		if file, from, to := b.Range(); file != name || from != 50 || to != 100 {
			t.Errorf("Range: %s, %d, %d", file, from, to)
		}
		if err := f.Map(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Tensor("c"); !errors.Is(err, weights.ErrNotFound) {
		t.Errorf("tensor c: %v", err)
	}
}

// TestMapped demands that a mapped tensor's bytes are the file's memory.
func TestMapped(t *testing.T) {
	f, _ := opened(t, 1<<16)
	if err := f.Map(); err != nil {
		t.Fatal(err)
	}
	one, err := f.Tensors[0].Bytes()
	if err != nil {
		t.Fatal(err)
	}
	two, err := f.Tensors[0].Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if &one[0] != &two[0] {
		t.Error("two calls of Bytes return different memory")
	}
	g, err := weights.New(weights.Contents{Sources: []*weights.Source{weights.NewSource("memory", bytes.NewReader(nil), 4)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Map(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("mapped memory: %v", err)
	}
	if err := g.MapIfSupported(); err != nil {
		t.Errorf("mapped memory if supported: %v", err)
	}
	if err := errors.Join(f.Close(), g.Close()); err != nil {
		t.Error(err)
	}
}

// TestTruncated truncates files that are open, and mapped.
func TestTruncated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not truncate a mapped file")
	}
	f, name := opened(t, 1<<20)
	if err := f.Map(); err != nil {
		t.Fatal(err)
	}
	b, err := f.Tensors[1].Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 1000); err != nil {
		t.Fatal(err)
	}
	sum := 0
	err = f.Guard(func() error {
		for _, x := range b {
			sum += int(x)
		}
		return nil
	})
	if !errors.Is(err, weights.ErrTruncated) || !strings.Contains(err.Error(), name) {
		t.Errorf("read of the mapped file: %d, %v", sum, err)
	}
	err = f.Guard(func() error { copy(make([]byte, len(b)), b); return nil })
	if !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("copy of the mapped file: %v", err)
	}
	if n, err := f.Tensors[1].ReadAt(make([]byte, 10), 0); n != 0 || !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("ReadAt: %d, %v", n, err)
	}
	if n, err := f.Tensors[0].ReadAt(make([]byte, 1010), 0); n != 1000 || !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("ReadAt across the new end: %d, %v", n, err)
	}
	g, name := opened(t, 1<<20)
	if err := os.Truncate(name, 1000); err != nil {
		t.Fatal(err)
	}
	if err := g.Map(); !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("Map: %v", err)
	}
	if _, err := g.Tensors[1].Bytes(); !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("Bytes: %v", err)
	}
}

// TestGuardPasses demands that Guard passes on errors, and panics that are not faults of the mapped memory.
func TestGuardPasses(t *testing.T) {
	f, _ := opened(t, 100)
	mine := errors.New("mine")
	if err := f.Guard(func() error { return mine }); !errors.Is(err, mine) {
		t.Errorf("the error is %v", err)
	}
	for _, mistake := range []func(){
		func() { panic("a panic") },
		func() { var p *int; *p++ },
		func() { _ = ascending(3)[len(f.Tensors)+1:][5] },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Guard swallowed a panic")
				}
			}()
			_ = f.Guard(func() error { mistake(); return nil })
		}()
	}
}

func TestValues(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte{0, 0, 0, 128, 63, 0, 0, 0, 64}, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := weights.OpenSource(name)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Tensor(weights.Spec{Name: "x", Type: weights.F32, Shape: []int{2}}, 1) // not aligned
	if err != nil {
		t.Fatal(err)
	}
	f, err := weights.New(weights.Contents{Tensors: []*weights.Tensor{x}, Sources: []*weights.Source{s}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // the second time mapped
		if v, err := weights.Values[float32](x); err != nil || !slices.Equal(v, []float32{1, 2}) {
			t.Errorf("the values are %v, %v", v, err)
		}
		if err := f.Map(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := weights.Values[int32](x); !errors.Is(err, weights.ErrType) {
		t.Errorf("as int32: %v", err)
	}
	h, err := weights.NewTensor(weights.Spec{Name: "h", Type: weights.BF16, Shape: []int{1}}, bytes.NewReader([]byte{128, 63}))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := weights.Values[dtype.BF16](h); err != nil || v[0].Float32() != 1 {
		t.Errorf("the values are %v, %v", v, err)
	}
	if v, err := weights.Values[uint8](tensor(t, "none", 3, 0)); err != nil || len(v) != 0 {
		t.Errorf("of no elements: %v, %v", v, err)
	}
	q, err := weights.NewTensor(weights.Spec{Name: "q", Type: weights.Q8_0, Shape: []int{32}}, bytes.NewReader(make([]byte, 34)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := weights.Values[uint8](q); !errors.Is(err, weights.ErrType) {
		t.Errorf("of Q8_0: %v", err)
	}
}

// TestLayers expects the order of layers' numbers and the progress.
func TestLayers(t *testing.T) {
	c := weights.Contents{}
	for i, name := range []string{"model.layers.10.a", "model.layers.9.a", "norm", "model.layers.10.b.0", "vision.blocks.0.w", "model.layers.9", "7", "a.99999999999.b"} {
		c.Tensors = append(c.Tensors, tensor(t, name, i+1))
	}
	f, err := weights.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for l := range f.Layers() {
		var names []string
		for _, x := range l.Tensors {
			names = append(names, x.Name())
		}
		got = append(got, fmt.Sprintf("%q %v %d+%d of %d", l.Name, names, l.Before, l.Size, l.Total))
	}
	want := []string{
		`"" [norm model.layers.9 7 a.99999999999.b] 0+24 of 36`,
		`"model.layers.9" [model.layers.9.a] 24+2 of 36`,
		`"model.layers.10" [model.layers.10.a model.layers.10.b.0] 26+5 of 36`,
		`"vision.blocks.0" [vision.blocks.0.w] 31+5 of 36`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the layers are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for range f.Layers() {
		break
	}
}

// TestSave demands that a file is replaced as a whole or not at all.
func TestSave(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "file")
	save := func(text string, failed error) error {
		return weights.Save(name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, failed)
		})
	}
	mine := errors.New("mine")
	for _, step := range []struct {
		text   string
		failed error
		want   string
	}{{"one", nil, "one"}, {strings.Repeat("two", 1<<20), mine, "one"}, {"three", nil, "three"}} {
		if err := save(step.text, step.failed); !errors.Is(err, step.failed) {
			t.Errorf("Save: %v, want %v", err, step.failed)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != step.want {
			t.Errorf("the file has %q, %v, want %q", got, err, step.want)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if err := weights.Save(filepath.Join(folder, "none", "file"), func(io.Writer) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if err := weights.Save(folder, func(io.Writer) error { return nil }); err == nil {
		t.Error("Save replaced a folder")
	}
}

// TestOpenSource expects errors for what is no file.
func TestOpenSource(t *testing.T) {
	if _, err := weights.OpenSource(t.TempDir()); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := weights.OpenSource(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
