package llama_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// farthest is the largest distance between the logits with a cache of Float8E4M3 and those with float32, relative to their length: elements of
// keys and values have 4 bits of precision, and errors of the few elements of the test's heads hardly cancel out.
const farthest = 0.15

// TestCompact compares the logits of a prompt and of single tokens with a cache of Float8E4M3 with those of the default one. Spans of two
// sequences take turns, so that pages of one lie between pages of the other.
func TestCompact(t *testing.T) {
	m, plain, run := load(t, cpu.Open, llamatest.Write(t, llamatest.Options{}))
	var compact *llama.Cache
	run(func(s *tensor.Scope) (err error) {
		compact, err = m.NewCache(s.Stream(), llama.CacheOptions{Sequences: 3, Tokens: 400, DType: dtype.Float8E4M3})
		return err
	})
	defer compact.Close()
	if compact.DType() != dtype.Float8E4M3 || plain.DType() != dtype.Float32 {
		t.Errorf("caches of %v and %v", compact.DType(), plain.DType())
	}
	logits := func(c *llama.Cache, spans ...llama.Span) (list []float32) {
		run(func(s *tensor.Scope) error {
			x, err := m.Forward(s, c, spans...)
			if err != nil {
				return err
			}
			list, err = tensor.Values[float32](t.Context(), m.Logits(x))
			return err
		})
		return list
	}
	first, second := prompt(140, 1), prompt(90, 2)
	for at := 0; at < 90; {
		n := 30
		if at >= 60 {
			n = 1
		}
		spans := []llama.Span{{Sequence: 2, Tokens: first[at : at+n]}, {Sequence: 0, Tokens: second[at : at+n]}}
		got, want := logits(compact, spans...), logits(plain, spans...)
		var sum, all float64
		for i, w := range want {
			sum, all = sum+math.Pow(float64(got[i]-w), 2), all+math.Pow(float64(w), 2)
		}
		if d := math.Sqrt(sum / all); !(d <= farthest) || d == 0 {
			t.Fatalf("after %d tokens, the distance of the logits is %v", at+n, d)
		}
		at += n
	}
}

// TestCacheType tests element types for which there are no kernels, and the sizes of tokens.
func TestCacheType(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	m, c, _ := load(t, cpu.Open, path)
	if _, err := m.NewCache(kerneltest.Stream(t, cpu.Open), llama.CacheOptions{Sequences: 1, Tokens: 64, DType: dtype.Float16}); !errors.Is(err, llama.ErrCacheType) {
		t.Errorf("a cache of float16: %v", err)
	}
	heads := llamatest.Layers * llamatest.KeyHeads
	if got, want := m.TokenBytes(dtype.Invalid), 2*heads*llamatest.HeadDim*4; got != want || c.DType() != dtype.Float32 {
		t.Errorf("a token has %d bytes, want %d", got, want)
	}
	if got, want := m.TokenBytes(dtype.Float8E4M3), 2*heads*(llamatest.HeadDim+2)+2*llamatest.KeyHeads*llamatest.HeadDim*4; got != want {
		t.Errorf("a token of Float8E4M3 has %d bytes, want %d", got, want)
	}
	m, _, run := load(t, kerneltest.Executions()["interp"], path)
	run(func(s *tensor.Scope) error {
		if _, err := m.NewCache(s.Stream(), llama.CacheOptions{Sequences: 1, Tokens: 64, DType: dtype.Float8E4M3}); !errors.Is(err, llama.ErrCacheType) {
			t.Errorf("heads of %d elements on a GPU: %v", llamatest.HeadDim, err)
		}
		return nil
	})
}
