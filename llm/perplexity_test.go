package llm_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// scores returns a function that computes the logits of all tokens of a sequence at once, on a device.
func scores(t *testing.T, path string, opener kerneltest.Opener) func(tokens []int32) []float32 {
	t.Helper()
	return scoresWith(t, path, opener, dtype.Invalid)
}

// scoresWith is scores with a cache of a type.
func scoresWith(t *testing.T, path string, opener kerneltest.Opener, cache dtype.Type) func(tokens []int32) []float32 {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := kerneltest.Stream(t, opener)
	m, err := llama.Load(s, f, llama.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.NewCache(s, llama.CacheOptions{Sequences: 1, Tokens: m.Context, DType: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	})
	return func(tokens []int32) (logits []float32) {
		c.Truncate(0, 0)
		err := tensor.RunOn(t.Context(), s, func(s *tensor.Scope) error {
			x, err := m.Forward(s, c, llama.Span{Tokens: tokens})
			if err != nil {
				return err
			}
			logits, err = tensor.Values[float32](t.Context(), m.Logits(x))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return logits
	}
}

// likelihoods returns the mean and the variance of the negative log-likelihoods of the tokens of second halves of chunks.
func likelihoods(scores func(tokens []int32) []float32, chunks [][]int32) (mean, variance float64) {
	var list []float64
	for _, chunk := range chunks {
		logits := scores(chunk)
		for i := len(chunk) / 2; i < len(chunk)-1; i++ {
			list = append(list, negative(logits[i*llamatest.Vocabulary:(i+1)*llamatest.Vocabulary], chunk[i+1]))
		}
	}
	for _, v := range list {
		mean += v / float64(len(list))
	}
	for _, v := range list {
		variance += (v - mean) * (v - mean) / float64(len(list))
	}
	return mean, variance
}

// negative returns the negative log-likelihood of a token.
func negative(logits []float32, token int32) float64 {
	var sum float64
	for _, v := range logits {
		sum += math.Exp(float64(v))
	}
	return math.Log(sum) - float64(logits[token])
}

// mixed is the types of matrices as in files of the kind Q4_K_M.
func mixed(name string) weights.Type {
	if name == "output.weight" || strings.HasSuffix(name, "attn_v.weight") || name == "blk.1.ffn_down.weight" {
		return weights.Q6_K
	}
	return weights.Q4_K
}

// TestPerplexity compares perplexities with those of logits that are computed at once: of short chunks, of chunks that are computed in
// several parts, and of a model whose tokenizer adds a token.
func TestPerplexity(t *testing.T) {
	bos := func(c *weights.Contents) {
		for i := range c.Metadata {
			switch c.Metadata[i].Key {
			case "tokenizer.ggml.add_bos_token":
				c.Metadata[i].Value = true
			case "llama.context_length":
				c.Metadata[i].Value = uint32(600)
			}
		}
	}
	const sentence = "The quick brown fox jumps over the lazy dog. "
	for name, o := range map[string]llamatest.Options{"Q8_0": {}, "mixed": {Wide: true, Head: true, Of: mixed}, "bos": {Change: bos}} {
		t.Run(name, func(t *testing.T) {
			path := llamatest.Write(t, o)
			m, scores := open(t, path, llm.Options{}), scores(t, path, cpu.Open)
			text := strings.Repeat(sentence, 2+2*m.Context()/len(sentence)) // at least two chunks
			for _, size := range []int{4, 37, m.Context()} {
				tokens := m.Tokenizer().EncodeWith(text, tokenizer.Options{PlainText: true}).IDs
				var chunks [][]int32
				for ; len(tokens) >= size; tokens = tokens[size:] {
					chunk := append([]int32(nil), tokens[:size]...)
					if name == "bos" {
						chunk[0] = 256
					}
					chunks = append(chunks, chunk)
				}
				var shown int
				got, err := m.Perplexity(t.Context(), text, llm.PerplexityOptions{Chunk: size, Progress: func(p llm.Perplexity, all int) {
					if shown++; p.Chunks != shown || all != len(chunks) {
						t.Errorf("progress %d is %+v of %d", shown, p, all)
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				mean, variance := likelihoods(scores, chunks)
				n := len(chunks) * (size - 1 - size/2)
				if got.Chunks != len(chunks) || got.Size != size || got.Tokens != n || shown != len(chunks) {
					t.Errorf("chunks of %d: %+v, want %d chunks and %d tokens", size, got, len(chunks), n)
				}
				if !(math.Abs(got.Mean-mean) <= 1e-4) || !(math.Abs(got.Variance-variance) <= 1e-3*variance) {
					t.Errorf("chunks of %d: %+v, want a mean of %v and a variance of %v", size, got, mean, variance)
				}
				if want := math.Exp(mean) * math.Sqrt(variance/float64(n-1)); !(math.Abs(got.Value()-math.Exp(mean)) <= 1e-3*math.Exp(mean)) || !(math.Abs(got.StandardError()-want) <= 1e-2*want) {
					t.Errorf("chunks of %d: perplexity %v ± %v, want %v ± %v", size, got.Value(), got.StandardError(), math.Exp(mean), want)
				}
			}
		})
	}
}

func TestPerplexityErrors(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	for _, c := range []struct {
		text  string
		chunk int
		want  error
		says  string
	}{
		{"", 8, llm.ErrShort, "it has 0 tokens, fewer than a chunk of 8"},
		{"seven b", 8, llm.ErrShort, "it has 7 tokens, fewer than a chunk of 8"},
		{"short", 0, llm.ErrShort, "a chunk of 200"},
		{"text", 3, llm.ErrChunk, "3 tokens; a chunk has at least 4"},
		{"text", -1, llm.ErrChunk, "-1 tokens"},
		{"text", 201, llm.ErrChunk, "the context has 200"},
	} {
		if _, err := m.Perplexity(t.Context(), c.text, llm.PerplexityOptions{Chunk: c.chunk}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q in chunks of %d: %v", c.text, c.chunk, err)
		}
	}
	if p, err := m.Perplexity(t.Context(), "12345678", llm.PerplexityOptions{Chunk: 8}); err != nil || p.Tokens != 3 {
		t.Errorf("one chunk: %+v, %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := m.Perplexity(ctx, strings.Repeat("x", 1000), llm.PerplexityOptions{Chunk: 8, Progress: func(llm.Perplexity, int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestMixedFormats generates a text with a model whose matrices have two formats: each token has the largest score.
func TestMixedFormats(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Wide: true, Head: true, Of: mixed})
	m, scores := open(t, path, llm.Options{}), scores(t, path, cpu.Open)
	prompt := m.Tokenizer().EncodeWith("Hello", tokenizer.Options{PlainText: true}).IDs
	tokens := prompt
	for token, err := range m.Generate(t.Context(), "Hello", llm.Request{MaxTokens: 20}) {
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token.ID)
	}
	if len(tokens) < len(prompt)+2 {
		t.Fatalf("the text has %d tokens", len(tokens)-len(prompt))
	}
	logits := scores(tokens)
	for i := len(prompt) - 1; i < len(tokens)-1; i++ {
		row := logits[i*llamatest.Vocabulary : (i+1)*llamatest.Vocabulary]
		if got, most := row[tokens[i+1]], slices.Max(row); !(most-got <= 1e-3) {
			t.Errorf("token %d is %d with a score of %v; the largest is %v", i+1, tokens[i+1], got, most)
		}
	}
}

// TestCompactCache compares the perplexity with a cache of 8-bit floats with the default one. The test's models predict nothing, so a few
// percent are much.
func TestCompactCache(t *testing.T) {
	path, text := llamatest.Write(t, llamatest.Options{}), strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20)
	var values []float64
	for _, cache := range []dtype.Type{dtype.Invalid, dtype.Float8E4M3} {
		p, err := open(t, path, llm.Options{CacheDType: cache}).Perplexity(t.Context(), text, llm.PerplexityOptions{Chunk: 64})
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, p.Value())
	}
	if d := math.Abs(values[1]/values[0] - 1); !(d < 0.03) || d == 0 {
		t.Errorf("the perplexity is %v, and %v with 8-bit floats", values[0], values[1])
	}
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if m, err := llm.Open(dev, path, llm.Options{CacheDType: dtype.Int8}); !errors.Is(err, llama.ErrCacheType) {
		t.Errorf("a cache of int8: %v, %v", m, err)
	}
}
