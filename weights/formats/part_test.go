package formats_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// layers is the number of layers of a model.
const layers = 30

// model returns a model with layers of size bytes, an embedding table of that size, and a vocabulary.
func model(tb testing.TB, size int) *weights.File {
	tb.Helper()
	tokens := make([]string, size/100)
	for i := range tokens {
		tokens[i] = fmt.Sprint("token", i)
	}
	c := weights.Contents{}
	add := func(name string, size int) {
		x, err := weights.NewTensor(weights.Spec{Name: name, Type: weights.F16, Shape: []int{size / 2}}, bytes.NewReader(make([]byte, size)))
		if err != nil {
			tb.Fatal(err)
		}
		c.Tensors = append(c.Tensors, x)
	}
	add("token_embd.weight", size)
	for i := range layers {
		add(fmt.Sprintf("blk.%d.a", i), size/2)
		add(fmt.Sprintf("blk.%d.b", i), size/2)
	}
	f, err := weights.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	f.Metadata = weights.Metadata{{Key: "tokenizer.ggml.tokens", Value: tokens}}
	return f
}

// load reads the first layers of a model. If these are all layers, it also reads the tensors outside them.
func load(tb testing.TB, f *weights.File, count int) {
	tb.Helper()
	for l := range f.Layers() {
		if l.Name == "" && count < layers {
			continue
		}
		if l.Name != "" {
			count--
		}
		for _, x := range l.Tensors {
			if _, err := x.Bytes(); err != nil {
				tb.Fatal(err)
			}
		}
		if count == 0 {
			return
		}
	}
}

// counter counts the bytes that are read.
type counter struct {
	io.ReaderAt
	n int
}

// ReadAt implements io.ReaderAt.
func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += n
	return n, err
}

// TestPart demands that three layers of thirty, with the header, take at most 15 % of the bytes and of the memory of the whole model.
func TestPart(t *testing.T) {
	withTokens, plain := model(t, 64<<10), model(t, 64<<10)
	plain.Metadata = nil // the metadata of safetensors files are strings
	for _, format := range []struct {
		model *weights.File
		write func(w io.Writer, f *weights.File) error
		open  func(r io.ReaderAt, size int64) (*weights.File, error)
	}{{withTokens, gguf.Write, gguf.NewReader}, {plain, safetensors.Write, safetensors.NewReader}} {
		var file bytes.Buffer
		if err := format.write(&file, format.model); err != nil {
			t.Fatal(err)
		}
		cost := func(count int) (read int, memory uint64) {
			c := &counter{ReaderAt: bytes.NewReader(file.Bytes())}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := format.open(c, int64(file.Len()))
			if err != nil {
				t.Fatal(err)
			}
			load(t, f, count)
			runtime.ReadMemStats(&after)
			return c.n, after.TotalAlloc - before.TotalAlloc
		}
		read, memory := cost(3)
		allRead, allMemory := cost(layers)
		if 100*read > 15*allRead || 100*memory > 15*allMemory || allRead < file.Len()*99/100 {
			t.Errorf("3 layers: %d bytes are read, %d allocated; all layers: %d, %d of %d", read, memory, allRead, allMemory, file.Len())
		}
	}
}

// BenchmarkPart opens a file of 124 MiB and reads three layers of thirty, or all.
func BenchmarkPart(b *testing.B) {
	name := filepath.Join(b.TempDir(), "model.gguf")
	if err := gguf.Save(name, model(b, 4<<20)); err != nil {
		b.Fatal(err)
	}
	for _, count := range []int{3, layers} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f, err := formats.Open(name)
				if err != nil {
					b.Fatal(err)
				}
				load(b, f, count)
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	if err := os.Remove(name); err != nil {
		b.Error(err)
	}
}
