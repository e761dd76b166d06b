package llm_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// open opens a model on the CPU, which is closed when the test ends.
func open(t *testing.T, path string, o llm.Options) *llm.Model {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := llm.Open(dev, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if owners := dev.Owners(); len(owners) > 0 {
			t.Errorf("memory that was not freed: %v", owners)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// text returns the continuation of a prompt, and the last token.
func text(t *testing.T, m *llm.Model, prompt string, r llm.Request) (string, llm.Token) {
	t.Helper()
	var all strings.Builder
	var last llm.Token
	for token, err := range m.Generate(t.Context(), prompt, r) {
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(token.Text)
		last = token
	}
	return all.String(), last
}

func TestGenerate(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	if m.Name() != "Random" || m.Context() != llamatest.Context || !m.HasChat() {
		t.Errorf("Name %q, Context %d, HasChat %v", m.Name(), m.Context(), m.HasChat())
	}
	long, last := text(t, m, "Hello", llm.Request{MaxTokens: 40})
	if last.Finish != llm.Limited || long == "" {
		t.Fatalf("40 tokens are %q, the last is %+v", long, last)
	}
	short, _ := text(t, m, "Hello", llm.Request{MaxTokens: 10})
	if !strings.HasPrefix(long, short) {
		t.Errorf("10 tokens are %q, 40 tokens %q", short, long)
	}
	if _, last := text(t, m, "Hello", llm.Request{}); last.Finish != llm.Full && last.Finish != llm.Ended {
		t.Errorf("without a limit, the last token is %+v", last)
	}
	if again, _ := text(t, m, "Hello", llm.Request{MaxTokens: 40}); again != long {
		t.Errorf("again: %q, then %q", long, again)
	}
}

func TestSeeds(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	r := llm.Request{MaxTokens: 30, Temperature: 1.5, Seed: 5}
	first, _ := text(t, m, "x", r)
	if second, _ := text(t, m, "x", r); second != first {
		t.Errorf("one seed: %q and %q", first, second)
	}
	r.Seed = 6
	if second, _ := text(t, m, "x", r); second == first {
		t.Errorf("two seeds: %q", first)
	}
	r.TopK = 1
	greedy, _ := text(t, m, "x", llm.Request{MaxTokens: 30})
	if top, _ := text(t, m, "x", r); top != greedy {
		t.Errorf("TopK of 1: %q, greedy: %q", top, greedy)
	}
}

func TestStop(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	long, _ := text(t, m, "Hello", llm.Request{MaxTokens: 40})
	stop := long[len(long)/3:][:3]
	want := long[:strings.Index(long, stop)]
	got, last := text(t, m, "Hello", llm.Request{MaxTokens: 40, Stop: []string{"never", stop, ""}})
	if got != want || last.Finish != llm.Stopped || last.Stop != stop {
		t.Errorf("until %q: got %q, want %q; the last token is %+v", stop, got, want, last)
	}
	if got, last := text(t, m, "Hello", llm.Request{MaxTokens: 40, Stop: []string{long + "more"}}); got != long || last.Finish != llm.Limited {
		t.Errorf("a stop that begins but does not end: got %q, want %q", got, long)
	}
}

// A text of Request.Stop does not end the generation where Request.Exempt says so, and the text is what it is without Stop.
func TestExempt(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	long, _ := text(t, m, "Hello", llm.Request{MaxTokens: 40})
	for n := range len(long) {
		if n > 12 && n < len(long)-1 {
			continue
		}
		var pieces []string
		exempt := func() func(string) bool {
			seen := ""
			return func(piece string) bool {
				seen += piece
				pieces = append(pieces, piece)
				return len(seen) < n
			}
		}
		stop := long[1:3]
		want, finish := long, llm.Limited
		if i := strings.Index(long[n:], stop); i >= 0 {
			want, finish = long[:n+i], llm.Stopped
		}
		got, last := text(t, m, "Hello", llm.Request{MaxTokens: 40, Stop: []string{stop}, Exempt: exempt})
		if got != want || last.Finish != finish {
			t.Errorf("from byte %d: got %q, %v, want %q, %v", n, got, last.Finish, want, finish)
		}
		if all := strings.Join(pieces, ""); !strings.HasPrefix(long, all) || len(all) < len(want)-len(stop) {
			t.Errorf("from byte %d: the function received %q", n, pieces)
		}
	}
}

// TestKnownTokens compares an answer whose prompt was computed before in part with one of a new model.
func TestKnownTokens(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	m := open(t, path, llm.Options{})
	messages := []chat.Message{{Role: "user", Content: "Hello"}}
	answer := func(m *llm.Model, usage *llm.Usage) (all string) {
		for token, err := range m.Chat(t.Context(), messages, llm.Request{MaxTokens: 12, Usage: usage}) {
			if err != nil {
				t.Fatal(err)
			}
			all += token.Text
		}
		return all
	}
	var u llm.Usage
	first := answer(m, &u)
	if u.Known != 0 || u.Generated == 0 || u.Prompt < len("user: Hello") {
		t.Errorf("usage of the first answer: %+v", u)
	}
	if time.Since(u.Arrived) > time.Hour || u.Arrived.After(time.Now()) || u.Queue < 0 || u.Queue > u.First || u.Arrived.Add(u.First+u.Rest).After(time.Now()) {
		t.Errorf("times of the first answer: %+v", u)
	}
	messages = append(messages, chat.Message{Role: "assistant", Content: first}, chat.Message{Role: "user", Content: "More"})
	second := answer(m, &u)
	if u.Known < len("user: Hello") {
		t.Errorf("usage of the second answer: %+v", u)
	}
	if want := answer(open(t, path, llm.Options{}), &u); second != want || u.Known != 0 {
		t.Errorf("got %q, from a new model %q", second, want)
	}
}

func TestCancel(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	want, _ := text(t, m, "Hello", llm.Request{MaxTokens: 20})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range m.Generate(ctx, "Hello there", llm.Request{}) {
		if n++; n == 3 {
			cancel()
		} else if n > 3 && !errors.Is(err, context.Canceled) {
			t.Errorf("token %d: %v", n, err)
		}
	}
	if n != 4 {
		t.Errorf("%d tokens, canceled after 3", n)
	}
	for range m.Generate(t.Context(), "Something else", llm.Request{}) {
		break // the loop ends, not the text
	}
	if s := settled(m); s.Aborted != 2 || len(s.Finished) != 1 {
		t.Errorf("%d texts are aborted, and %v have ended", s.Aborted, s.Finished)
	}
	if got, _ := text(t, m, "Hello", llm.Request{MaxTokens: 20}); got != want {
		t.Errorf("after a canceled text: got %q, want %q", got, want)
	}
}

// A model without a token that begins a text needs a prompt.
func TestEmptyPrompt(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{Change: func(c *weights.Contents) {
		c.Metadata = slices.DeleteFunc(c.Metadata, func(e weights.Entry) bool { return e.Key == "tokenizer.ggml.bos_token_id" })
	}}), llm.Options{})
	for _, err := range m.Generate(t.Context(), "", llm.Request{MaxTokens: 1}) {
		if !errors.Is(err, llm.ErrRequest) || errors.Is(err, llm.ErrContext) || !strings.Contains(err.Error(), "the prompt is empty") {
			t.Error(err)
		}
	}
}

func TestErrors(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Context: 50})
	for token, err := range m.Generate(t.Context(), strings.Repeat("x", 50), llm.Request{}) {
		long, ok := errors.AsType[*llm.ContextError](err)
		if !errors.Is(err, llm.ErrContext) || !ok || *long != (llm.ContextError{Tokens: 50, Context: 50}) {
			t.Errorf("a prompt of 50 tokens: %+v, %v", token, err)
		}
	}
	for n, want := range map[int]string{50: "its 50 tokens leave no room for an answer", 51: "it has 51 tokens, and the context 50"} {
		for _, err := range m.Generate(t.Context(), strings.Repeat("x", n), llm.Request{}) {
			if !errors.Is(err, llm.ErrContext) || !strings.Contains(err.Error(), want) {
				t.Errorf("a prompt of %d tokens: %v, want %s", n, err, want)
			}
		}
	}
	if _, last := text(t, m, strings.Repeat("x", 49), llm.Request{}); last.Finish != llm.Full && last.Finish != llm.Ended {
		t.Errorf("a prompt of 49 tokens: %+v", last)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Generate(t.Context(), "x", llm.Request{}) {
		if !errors.Is(err, llm.ErrClosed) {
			t.Errorf("a closed model: %v", err)
		}
	}
	plain := open(t, llamatest.Write(t, llamatest.Options{Change: func(c *weights.Contents) { c.Metadata = c.Metadata[:len(c.Metadata)-1] }}), llm.Options{})
	for _, err := range plain.Chat(t.Context(), []chat.Message{{Role: "user", Content: "x"}}, llm.Request{}) {
		if !errors.Is(err, llm.ErrChat) || plain.HasChat() {
			t.Errorf("a model without a template: %v", err)
		}
	}
}

func TestDamagedWeights(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{Change: func(c *weights.Contents) {
		for i, x := range c.Tensors {
			if x.Name() == "output_norm.weight" {
				nan := strings.Repeat("\x00\x00\xc0\x7f", llamatest.Hidden)
				c.Tensors[i], _ = weights.NewTensor(weights.Spec{Name: x.Name(), Type: x.Type(), Shape: x.Shape()}, strings.NewReader(nan))
			}
		}
	}}), llm.Options{})
	for token, err := range m.Generate(t.Context(), "x", llm.Request{}) {
		if !errors.Is(err, llm.ErrLogits) {
			t.Errorf("NaN weights: %+v, %v", token, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	none, two := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.gguf", "b.gguf"} {
		if err := os.WriteFile(filepath.Join(two, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]error{
		filepath.Join(none, "missing.gguf"): os.ErrNotExist, none: llm.ErrFiles, two: llm.ErrFiles, filepath.Join(two, "a.gguf"): weights.ErrFormat,
	} {
		if _, err := llm.Open(dev, path, llm.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	folder := filepath.Dir(llamatest.Write(t, llamatest.Options{}))
	m, err := llm.Open(dev, folder, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if owners := dev.Owners(); len(owners) > 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
}

// TestTooLittleMemory opens a model on a device that has no room for its weights or for its cache. Both are errors before the work begins.
func TestTooLittleMemory(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	m, err := llm.Open(dev, path, llm.Options{Context: 64})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := dev.MemoryStats()
	if err := errors.Join(err, m.Close()); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		limit int64
		o     llm.Options
		text  string
	}{
		{40000, llm.Options{Progress: func(_, _ int64) { t.Error("weights are loaded") }}, "the weights need 0.00 GiB, and there is room for 0.00 GiB; in "},
		{1, llm.Options{}, "there is room for 0.00 GiB"},
		{stats.Used, llm.Options{Tokens: 1 << 20}, "a cache of 1048576 tokens needs 0.50 GiB, and beside the weights, there is room for 0.00 GiB, which is enough for a context of "},
	} {
		dev.SetMemoryLimit(x.limit)
		_, err := llm.Open(dev, path, x.o)
		if !errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), x.text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("with %d bytes: %v, want %q", x.limit, err, x.text)
		}
	}
	if owners := dev.Owners(); len(owners) > 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
}

// The default size of the cache leaves room for the pages that many texts use only in part.
func TestManySequences(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	dev.SetMemoryLimit(30 << 20)
	const texts = 200
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: texts})
	if err != nil {
		t.Fatal(err)
	}
	if pages := m.Stats().Pages; pages < 2*texts || pages > 1024/llama.PageTokens*texts {
		t.Errorf("the cache has %d pages", pages)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	dev.SetMemoryLimit(6 << 20)
	if _, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: texts}); !errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), "llm: out of memory on the device: a cache of ") {
		t.Errorf("without room: %v", err)
	}
}

func TestProgress(t *testing.T) {
	var done, total int64
	var told []llm.Memory
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 3, Memory: func(m llm.Memory) { told = append(told, m) }, Progress: func(d, all int64) {
		if d < done || d > all || len(told) != 1 {
			t.Errorf("%d of %d bytes after %d; %v", d, all, done, told)
		}
		done, total = d, all
	}})
	if len(told) != 1 || told[0].Weights < total/2 || told[0].Cache < int64(told[0].Tokens) || told[0].Tokens != llama.PageTokens*m.Stats().Pages {
		t.Errorf("the memory is %+v, with %d bytes in the file and a cache of %d pages", told, total, m.Stats().Pages)
	}
	if done == 0 || total < done || float64(done) < 0.9*float64(total) {
		t.Errorf("%d of %d bytes at the end", done, total)
	}
}

func TestRates(t *testing.T) {
	if r := (llm.Usage{Generated: 11, Rest: 2e9}).Rate(); math.Abs(r-5) > 1e-9 {
		t.Errorf("10 tokens in 2 s: %v a second", r)
	}
	if r := (llm.Usage{Generated: 1}).Rate(); r != 0 {
		t.Errorf("one token: %v a second", r)
	}
}

// The sum of several usages has the earliest arrival and the longest times.
func TestUsageAdd(t *testing.T) {
	var sum llm.Usage
	at := time.Unix(5, 0)
	for _, u := range []llm.Usage{{Prompt: 1, Arrived: at, Queue: 3, First: 4, Rest: 9}, {}, {Prompt: 2, Known: 1, Generated: 7, Arrived: at.Add(-1), Queue: 1, First: 8, Rest: 2}} {
		sum.Add(u)
	}
	if want := (llm.Usage{Prompt: 3, Known: 1, Generated: 7, Arrived: at.Add(-1), Queue: 3, First: 8, Rest: 9}); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
}

// TestFolder generates text with a model in a folder of Hugging Face.
func TestFolder(t *testing.T) {
	folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen3ForCausalLM"})
	m := open(t, folder, llm.Options{})
	if m.Name() != filepath.Base(folder) || m.Context() != llamatest.Context || !m.HasChat() {
		t.Errorf("Name %q, Context %d, HasChat %v", m.Name(), m.Context(), m.HasChat())
	}
	long, last := text(t, m, "Hello", llm.Request{MaxTokens: 40})
	if last.Finish != llm.Limited || long == "" {
		t.Errorf("40 tokens are %q, the last is %+v", long, last)
	}
	if again, _ := text(t, open(t, filepath.Join(folder, "model.safetensors"), llm.Options{}), "Hello", llm.Request{MaxTokens: 40}); again != long {
		t.Errorf("from the file: %q, from the folder: %q", again, long)
	}
	for name, want := range map[string]error{"config.json": llm.ErrFiles, "tokenizer.json": os.ErrNotExist} {
		broken := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
		if err := os.Remove(filepath.Join(broken, name)); err != nil {
			t.Fatal(err)
		}
		dev, err := cpu.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := llm.Open(dev, broken, llm.Options{}); !errors.Is(err, want) {
			t.Errorf("without %s: %v", name, err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRepetition compares texts with a large penalty and without one: the penalty leaves each token one chance.
func TestRepetition(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	distinct := func(penalty float64) int {
		ids := map[int32]bool{}
		for token, err := range m.Generate(t.Context(), "Hello", llm.Request{MaxTokens: 40, RepetitionPenalty: penalty}) {
			if err != nil {
				t.Fatal(err)
			}
			ids[token.ID] = true
		}
		return len(ids)
	}
	if with, without := distinct(1e6), distinct(1); with < 35 || without >= with {
		t.Errorf("%d different tokens of 40 with a penalty, %d without", with, without)
	}
}
