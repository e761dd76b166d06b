package llm_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// drafting is a model that guesses tokens, and a draft model that guesses none of its tokens or all of them.
func drafting(t *testing.T) (path string, ways map[string]llm.Options) {
	t.Helper()
	path = llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	return path, map[string]llm.Options{
		"lookup":        {DraftTokens: 3},
		"far lookup":    {DraftTokens: 11},
		"the model":     {DraftTokens: 7, DraftModel: path},
		"another model": {DraftModel: llamatest.Write(t, llamatest.Options{Seed: 9})},
	}
}

// only excludes all tokens but some letters, so that texts repeat themselves.
func only(letters string) map[int32]float64 {
	bias := map[int32]float64{}
	for id := range int32(llamatest.Vocabulary) {
		if id > 255 || !strings.ContainsRune(letters, rune(id)) {
			bias[id] = math.Inf(-1)
		}
	}
	return bias
}

// repetitive returns prompts and requests of which many have texts that repeat themselves.
func repetitive(n int) (prompts []string, requests []llm.Request) {
	prompts, requests = various(n)
	for i := range requests {
		if i%3 < 2 {
			requests[i].Bias, requests[i].FrequencyPenalty, requests[i].PresencePenalty, requests[i].RepetitionPenalty = only("abcd"[:2+i%3]), 0, 0, 0
		}
	}
	return prompts, requests
}

// TestSpeculation compares texts with guessed tokens with those without: all at once, with memory for all of them or for one.
func TestSpeculation(t *testing.T) {
	path, ways := drafting(t)
	prompts, requests := repetitive(9)
	var want []string
	var ends []llm.Token
	for i := range prompts { // a new model knows no tokens
		text, last := text(t, open(t, path, llm.Options{}), prompts[i], requests[i])
		want, ends = append(want, text), append(ends, last)
	}
	for i, name := range slices.Sorted(maps.Keys(ways)) {
		o := ways[name]
		for _, o.Tokens = range []int{0, 1} {
			if !sweep.Every(2, i+o.Tokens) {
				continue
			}
			o.Sequences = 5
			m := open(t, path, o)
			got, last := texts(t, m, prompts, requests)
			for i := range got {
				if got[i] != want[i] || last[i] != ends[i] {
					t.Errorf("%s, Tokens %d, text %d: got %q, %+v, want %q, %+v", name, o.Tokens, i, got[i], last[i], want[i], ends[i])
				}
			}
			s := settled(m)
			if s.UsedPages != 0 || s.Drafts == 0 || s.Accepted > s.Drafted || s.Drafted < s.Drafts || name == "the model" && 4*s.Accepted < 3*s.Drafted || name != "another model" && s.Accepted == 0 {
				t.Errorf("%s, Tokens %d: afterwards: %+v", name, o.Tokens, s)
			}
		}
	}
}

// TestSpeculationDeterministic compares texts with and without guesses, with the option Deterministic and quantized weights, for which the number
// of rows has an influence on results.
func TestSpeculationDeterministic(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1})
	prompts, requests := repetitive(9)
	for name, opener := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		t.Run(name, func(t *testing.T) {
			dev := kerneltest.Device(t, opener)
			var want []string
			for _, o := range []llm.Options{{}, {DraftTokens: 2}, {DraftTokens: 7}, {DraftTokens: 3, DraftModel: path}} {
				drafts := o.DraftTokens
				o.Sequences, o.Tokens, o.Deterministic = 16, 2000, true
				m, err := llm.Open(dev, path, o)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := texts(t, m, prompts, requests)
				if want == nil {
					want = got
				}
				for i := range got {
					if got[i] != want[i] {
						t.Errorf("%d guesses, text %d: got %q, want %q", drafts, i, got[i], want[i])
					}
				}
				if s := settled(m); drafts > 0 != (s.Accepted > 0) {
					t.Errorf("%d guesses: %+v", drafts, s)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestSpeculationAhead generates texts with guesses on a device for which the engine otherwise works ahead.
func TestSpeculationAhead(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	prompts, bias := []string{"abcabcab", "x x x x "}, only("ab")
	for name, opener := range kerneltest.Executions() {
		if name != "interp" && name != "cuda" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dev := kerneltest.Device(t, opener)
			for i, o := range []llm.Options{{DraftTokens: 3}, {DraftTokens: 3, DraftModel: path}} {
				if name == "interp" && !sweep.Every(2, i) { // it is slow
					continue
				}
				o.Sequences, o.Context = 2, 64
				m, err := llm.Open(dev, path, o)
				if err != nil {
					t.Fatal(err)
				}
				_, last := texts(t, m, prompts, []llm.Request{{MaxTokens: 6, Logprobs: true, Bias: bias}, {MaxTokens: 9, Temperature: 0.5, Seed: 1, Bias: bias}})
				s := settled(m)
				if last[0].Finish == llm.Unfinished || last[1].Finish == llm.Unfinished || s.Accepted == 0 || s.UsedPages > 0 {
					t.Errorf("the last tokens are %+v; afterwards: %+v", last, s)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestSpeculationBetween compares texts with guesses, between which the engine works ahead, with those without.
func TestSpeculationBetween(t *testing.T) {
	path, ways := drafting(t)
	prompts, requests := repetitive(7)
	want, ends := texts(t, open(t, path, llm.Options{Sequences: 3}), prompts, requests)
	for name, o := range ways {
		o.Sequences = 3
		m := open(t, path, o)
		m.Ahead()
		got, last := texts(t, m, prompts, requests)
		if s := settled(m); !slices.Equal(got, want) || !reflect.DeepEqual(last, ends) || s.Drafts == 0 || name == "another model" && s.Drafted == s.Accepted {
			t.Errorf("%s: got %q, want %q; afterwards %+v", name, got, want, s)
		}
	}
}

// TestSpeculationTokens compares the tokens of a text with guesses, their probabilities and the end at a text of Request.Stop, at the end of the
// context, and with a grammar or with penalties, for which there are no guesses.
func TestSpeculationTokens(t *testing.T) {
	path, ways := drafting(t)
	plain := open(t, path, llm.Options{})
	long, _ := text(t, plain, "Hello", llm.Request{MaxTokens: 40})
	g, err := grammar.Pattern(`(abc){3,9}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]llm.Request{
		"limit": {MaxTokens: 31, Logprobs: true, TopLogprobs: 3, Bias: only("abc")}, "stop": {MaxTokens: 40, Stop: []string{long[20:][:3]}}, "context": {IgnoreEnd: true, Logprobs: true},
		"texts": {MaxTokens: 10, N: 3, Temperature: 1, Seed: 4, Logprobs: true}, "grammar": {Grammar: g, MaxTokens: 20}, "penalty": {MaxTokens: 30, FrequencyPenalty: 0.1},
	} {
		want := tokens(t, plain, r)
		for way, o := range ways {
			m := open(t, path, o)
			var u llm.Usage
			r.Usage = &u
			got := tokens(t, m, r)
			byChoice := func(a, b llm.Token) int { return a.Choice - b.Choice }
			slices.SortStableFunc(got, byChoice)
			slices.SortStableFunc(want, byChoice)
			for i := range want {
				if i < len(got) && near(want[i].Logprobs, got[i].Logprobs) {
					got[i].Logprobs = want[i].Logprobs
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: got %+v, want %+v", name, way, got, want)
			}
			s := m.Stats()
			if free := name == "grammar" || name == "penalty"; free && s.Drafts > 0 || !free && way == "the model" && s.Accepted == 0 || int64(u.Drafted) != s.Drafted || int64(u.Accepted) != s.Accepted {
				t.Errorf("%s, %s: %+v, %+v", name, way, u, s)
			}
		}
	}
}

// near reports whether two lists of probabilities agree, except for the rounding of sums.
func near(a, b *llm.Logprobs) bool {
	if a == nil || b == nil || len(a.Top) != len(b.Top) || math.Abs(a.Chosen-b.Chosen) > 1e-4 {
		return a == b
	}
	for i := range a.Top {
		if a.Top[i].ID != b.Top[i].ID || math.Abs(a.Top[i].Logprob-b.Top[i].Logprob) > 1e-4 {
			return false
		}
	}
	return true
}

// TestSpeculationDistribution compares how often three tokens follow a prompt, with their probabilities. Two tokens are possible, and the
// prompt has all pairs of them, so that the model guesses the second one.
func TestSpeculationDistribution(t *testing.T) {
	const limit = 24.3 // the 99.9th percentile of chi-squared with 7 degrees of freedom
	n := 400
	if sweep.Whole() {
		n = 800
	}
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	r := llm.Request{MaxTokens: 3, Logprobs: true, TopLogprobs: 2, Bias: only("bc"), N: 8, Temperature: 1}
	for name, o := range map[string]llm.Options{"lookup": {DraftTokens: 1}, "model": {DraftTokens: 1, DraftModel: llamatest.Write(t, llamatest.Options{Seed: 3})}} {
		o.Sequences = 8
		m := open(t, path, o)
		chance, count := map[string]float64{}, map[string]float64{}
		for seed := 0; seed < n; seed += r.N {
			r.Seed = uint64(seed) * 7919
			parts, before := make([]string, r.N), make([]float64, r.N)
			for token, err := range m.Generate(t.Context(), "bbcbccbbcbcc", r) {
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range token.Logprobs.Top {
					chance[parts[token.Choice]+string(rune(x.ID))] = math.Exp(before[token.Choice] + x.Logprob)
				}
				parts[token.Choice] += token.Text
				before[token.Choice] += token.Logprobs.Chosen
				count[parts[token.Choice]]++
			}
		}
		sum := 0.0
		for text, p := range chance {
			if d := count[text] - p*float64(n); len(text) == r.MaxTokens {
				sum += d * d / (p * float64(n))
			}
		}
		if s := m.Stats(); len(chance) != 2+4+8 || sum > limit || s.Accepted == 0 || s.Accepted == s.Drafted {
			t.Errorf("%s: chi-squared is %v for %v with probabilities %v; %d of %d guesses were right", name, sum, count, chance, s.Accepted, s.Drafted)
		}
	}
}

// TestSpeculationAdapters compares texts of several adapters, with guesses and without.
func TestSpeculationAdapters(t *testing.T) {
	path, ways := drafting(t)
	adapters := map[string]string{"one": llamatest.WriteAdapter(t, 1), "two": llamatest.WriteAdapter(t, 2)}
	prompts, requests := []string{"ab", "abab", "ba"}, make([]llm.Request, 3)
	for i := range requests {
		requests[i] = llm.Request{MaxTokens: 20, Bias: only("abc"), Adapter: []string{"", "one", "two"}[i]}
	}
	want, _ := texts(t, open(t, path, llm.Options{Sequences: 3, Adapters: adapters}), prompts, requests)
	for name, o := range ways {
		o.Sequences, o.Adapters = 3, adapters
		m := open(t, path, o)
		got, _ := texts(t, m, prompts, requests)
		if s := settled(m); !slices.Equal(got, want) || s.Drafts == 0 || name != "another model" && s.Accepted == 0 {
			t.Errorf("%s: got %q, want %q; %d guesses were right", name, got, want, s.Accepted)
		}
	}
}

// TestSpeculationCanceled cancels texts with guesses while others continue, and lets steps fail.
func TestSpeculationCanceled(t *testing.T) {
	path, ways := drafting(t)
	want, _ := text(t, open(t, path, llm.Options{}), "Hello", llm.Request{MaxTokens: 60})
	for name, o := range ways {
		o.Sequences = 3
		m := open(t, path, o)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 5 {
				ctx, cancel := context.WithCancel(t.Context())
				n := 0
				for _, err := range m.Generate(ctx, strings.Repeat(fmt.Sprint(i), 10), llm.Request{}) {
					if n++; n == 5+i {
						cancel()
					}
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("%s: %v", name, err)
					}
				}
				cancel()
			}
		}()
		for range 3 {
			if got, _ := text(t, m, "Hello", llm.Request{MaxTokens: 60}); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		<-done
		if s := settled(m); s.UsedPages > 0 {
			t.Errorf("%s: afterwards: %+v", name, s)
		}
	}
}

// TestSpeculationFault lets a step of guesses fail, after which its texts are computed again.
func TestSpeculationFault(t *testing.T) {
	path, ways := drafting(t)
	r := llm.Request{MaxTokens: 30, Bias: only("abc")}
	want, _ := text(t, open(t, path, llm.Options{}), "Hello", r)
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for name, o := range ways {
		m, err := llm.Open(dev, path, o)
		if err != nil {
			t.Fatal(err)
		}
		b := newSaboteur(t, dev)
		m.Interfere(b.interfere)
		b.fail(3, 1)
		if got, _ := text(t, m, "Hello", r); got != want || b.done.Load() != 1 {
			t.Errorf("%s: got %q, want %q; %d steps failed", name, got, want, b.done.Load())
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDraftErrors opens draft models that do not fit.
func TestDraftErrors(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	path := llamatest.Write(t, llamatest.Options{})
	other := llamatest.Write(t, llamatest.Options{Change: func(c *weights.Contents) {
		for i, f := range c.Metadata {
			if list, ok := f.Value.([]string); ok && f.Key == "tokenizer.ggml.tokens" {
				list = slices.Clone(list)
				list[5], list[6] = list[6], list[5]
				c.Metadata[i].Value = list
			}
		}
	}})
	for draft, want := range map[string]error{t.TempDir(): llm.ErrFiles, other: llm.ErrDraft} {
		if _, err := llm.Open(dev, path, llm.Options{DraftModel: draft}); !errors.Is(err, want) || !strings.Contains(err.Error(), draft) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if owners := dev.Owners(); len(owners) > 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
}
