package llm_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// tokens returns the tokens of a continuation.
func tokens(t *testing.T, m *llm.Model, r llm.Request) (list []llm.Token) {
	t.Helper()
	for token, err := range m.Generate(t.Context(), "Hello", r) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, token)
	}
	return list
}

// TestLogprobs lists probable tokens, on devices with and without work ahead.
func TestLogprobs(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	for name, opener := range kerneltest.Executions() {
		if name != "interp" && name != "cuda" && name != "scalar" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m := openOn(t, kerneltest.Device(t, opener), path)
			plain := tokens(t, m, llm.Request{MaxTokens: 4})
			for _, top := range []int{0, 1, llm.MostLogprobs} {
				for i, token := range tokens(t, m, llm.Request{MaxTokens: 4, Logprobs: true, TopLogprobs: top}) {
					l := token.Logprobs
					if token.ID != plain[i].ID || plain[i].Logprobs != nil || l == nil || len(l.Top) != top || !(l.Chosen < 0) {
						t.Fatalf("top %d, token %d: %+v, %+v; without probabilities %+v", top, i, token, l, plain[i])
					}
					checkTop(t, token)
				}
			}
			bias := map[int32]float64{}
			for _, x := range tokens(t, m, llm.Request{MaxTokens: 1, Logprobs: true, TopLogprobs: 3})[0].Logprobs.Top {
				bias[x.ID] = math.Inf(-1)
			}
			first := tokens(t, m, llm.Request{MaxTokens: 1, Logprobs: true, TopLogprobs: 5, Bias: bias})[0]
			for _, x := range first.Logprobs.Top {
				if _, excluded := bias[x.ID]; excluded {
					t.Errorf("token %d, which is excluded, has %v", x.ID, x.Logprob)
				}
			}
		})
	}
}

// checkTop checks the order and the sum of the most probable tokens, of which the chosen one is the first.
func checkTop(t *testing.T, token llm.Token) {
	t.Helper()
	var sum float64
	for i, x := range token.Logprobs.Top {
		sum += math.Exp(x.Logprob)
		if i == 0 && (x.ID != token.ID || x.Logprob != token.Logprobs.Chosen) || i > 0 && x.Logprob > token.Logprobs.Top[i-1].Logprob {
			t.Errorf("token %d: element %d of the most probable ones is %v of %v", token.ID, i, x, token.Logprobs.Top)
		}
	}
	if sum > 1+1e-5 {
		t.Errorf("the sum of the probabilities is %v", sum)
	}
}

func TestBias(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	for i, token := range tokens(t, m, llm.Request{MaxTokens: 5, Temperature: 1, Bias: map[int32]float64{70: 1000}}) {
		if token.ID != 70 {
			t.Errorf("token %d is %d, want 70", i, token.ID)
		}
	}
	free := tokens(t, m, llm.Request{MaxTokens: 5})
	for _, token := range tokens(t, m, llm.Request{MaxTokens: 20, Bias: map[int32]float64{free[0].ID: math.Inf(-1), -5: 3, 1 << 30: 3}}) {
		if token.ID == free[0].ID {
			t.Errorf("the token %d, which is excluded, is chosen", token.ID)
		}
	}
	if again := tokens(t, m, llm.Request{MaxTokens: 5}); again[0].ID != free[0].ID {
		t.Errorf("without biases again: %v, want %v", again[0], free[0])
	}
}

func TestPenalties(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	for _, r := range []llm.Request{{PresencePenalty: 1000}, {FrequencyPenalty: 1000}} {
		seen := map[int32]bool{}
		r.MaxTokens = 60
		for i, token := range tokens(t, m, r) {
			if seen[token.ID] {
				t.Errorf("%+v: token %d is %d again", r, i, token.ID)
			}
			seen[token.ID] = true
		}
	}
	if list := tokens(t, m, llm.Request{MaxTokens: 60, PresencePenalty: -1000}); list[1].ID != list[0].ID || list[59].ID != list[0].ID {
		t.Errorf("a reward for tokens that occur: %v", list)
	}
}

// A text that may not end has all tokens that it may have.
func TestIgnoreEnd(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	var end int32
	for id := int32(0); end == 0; id++ {
		if token := tokens(t, m, llm.Request{MaxTokens: 2, Bias: map[int32]float64{id: 1000}}); token[0].Finish == llm.Ended {
			end = id
		}
	}
	r := llm.Request{MaxTokens: 7, IgnoreEnd: true, Bias: map[int32]float64{end: 1000}}
	if list := tokens(t, m, r); len(list) != 7 || list[6].Finish != llm.Limited {
		t.Errorf("%d tokens, the last is %+v", len(list), list[len(list)-1])
	}
}

func TestContinue(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	want := tokens(t, m, llm.Request{MaxTokens: 5})
	i := 0
	for token, err := range m.Continue(t.Context(), m.Tokenizer().Encode("Hello"), llm.Request{MaxTokens: 5}) {
		if err != nil || token != want[i] {
			t.Errorf("token %d: %+v, %v, want %+v", i, token, err, want[i])
		}
		i++
	}
	for name, r := range map[string]llm.Request{"top": {TopLogprobs: llm.MostLogprobs + 1}, "biases": {Bias: map[int32]float64{}}} {
		for id := range int32(llm.MostBiases) + 1 {
			if r.Bias != nil {
				r.Bias[id] = 1
			}
		}
		for _, err := range m.Generate(t.Context(), "Hello", r) {
			if !errors.Is(err, llm.ErrRequest) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, err := range m.Continue(t.Context(), []int32{1, -1}, llm.Request{}) {
		if !errors.Is(err, llm.ErrRequest) {
			t.Errorf("a token that does not exist: %v", err)
		}
	}
}
