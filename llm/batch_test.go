package llm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// texts returns the continuations of prompts, all at once, and the last tokens.
func texts(t *testing.T, m *llm.Model, prompts []string, requests []llm.Request) ([]string, []llm.Token) {
	t.Helper()
	got, last := make([]string, len(prompts)), make([]llm.Token, len(prompts))
	var all sync.WaitGroup
	for i, p := range prompts {
		all.Go(func() {
			for token, err := range m.Generate(t.Context(), p, requests[i]) {
				if err != nil {
					t.Errorf("text %d: %v", i, err)
					return
				}
				got[i] += token.Text
				last[i] = token
			}
		})
	}
	all.Wait()
	return got, last
}

// various returns prompts and requests that differ in everything.
func various(n int) (prompts []string, requests []llm.Request) {
	for i := range n {
		prompt := strings.Repeat(fmt.Sprintf("%c%d ", 'a'+i, i*i), 1+i*7%30)
		if i%4 == 3 { // more than a step has
			prompt = strings.Repeat(prompt, 150)[:140]
		}
		prompts = append(prompts, prompt)
		r := llm.Request{MaxTokens: 5 + i*11%50}
		if i%3 > 0 {
			r.Temperature, r.Seed, r.TopK, r.TopP = 1.2, uint64(i), 40*(i%2), 0.95
		}
		if i%4 == 1 {
			r.RepetitionPenalty, r.MinP = 1.3, 0.001
		}
		if i%5 > 1 {
			r.FrequencyPenalty, r.PresencePenalty = 0.3*float64(i%3), 0.5
			r.Bias = map[int32]float64{int32(30 + i): 1.5, int32(97 + i): -2}
		}
		requests = append(requests, r)
	}
	return prompts, requests
}

// TestBatch compares texts that are generated at once with those that are generated alone: with memory for all of them, or with memory
// for one.
func TestBatch(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	prompts, requests := various(13)
	for n, chunk := range []int{128, 16} {
		var want []string
		var ends []llm.Token
		for i := range prompts { // a new model knows no tokens
			m := open(t, path, llm.Options{})
			m.Chunk(chunk)
			text, last := text(t, m, prompts[i], requests[i])
			want, ends = append(want, text), append(ends, last)
		}
		for _, tokens := range []int{0, 1} {
			if !sweep.Every(2, n+tokens) {
				continue
			}
			m := open(t, path, llm.Options{Sequences: 5, Tokens: tokens})
			m.Chunk(chunk)
			got, last := texts(t, m, prompts, requests)
			for i := range got {
				if got[i] != want[i] || last[i] != ends[i] {
					t.Errorf("Tokens %d, text %d: got %q, %+v, want %q, %+v", tokens, i, got[i], last[i], want[i], ends[i])
				}
			}
			s := settled(m)
			if s.Running != 0 || s.Waiting != 0 || s.UsedPages != 0 || s.Finished[llm.Limited]+s.Finished[llm.Full]+s.Finished[llm.Ended] != 13 || s.Generated < 13*5 || s.Prompt < 13*3 {
				t.Errorf("afterwards: %+v", s)
			}
			if tokens == 0 && s.Dropped > 0 {
				t.Errorf("with memory for all, %d texts were dropped", s.Dropped)
			}
		}
	}
}

// TestDropped generates texts that need a page each at first, but at last more than there are: some are interrupted and continue later.
func TestDropped(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	prompts, requests := make([]string, 5), make([]llm.Request, 5)
	for i := range prompts {
		prompts[i], requests[i] = strings.Repeat(string(rune('a'+i)), 55+i), llm.Request{MaxTokens: 90, Temperature: 0.2, Seed: uint64(i), RepetitionPenalty: float64(1 + i%2), FrequencyPenalty: 0.2 * float64(i%3)}
	}
	m := open(t, path, llm.Options{Sequences: 5, Tokens: 1})
	m.Chunk(16)
	got, last := texts(t, m, prompts, requests)
	if s := settled(m); s.Dropped == 0 || s.UsedPages != 0 {
		t.Errorf("afterwards: %+v", s)
	}
	for i, p := range prompts {
		m := open(t, path, llm.Options{})
		m.Chunk(16)
		if want, end := text(t, m, p, requests[i]); got[i] != want || last[i] != end {
			t.Errorf("text %d: got %q, %+v, want %q, %+v", i, got[i], last[i], want, end)
		}
	}
}

// TestBatchAhead generates texts at once on a device for which the engine works ahead.
func TestBatchAhead(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	prompts, requests := various(4)
	for name, opener := range kerneltest.Executions() {
		if name != "interp" && name != "cuda" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dev, most := kerneltest.Device(t, opener), 12
			if name == "interp" && !sweep.Whole() {
				most = 6
			}
			requests := slices.Clone(requests)
			for i := range requests {
				requests[i].MaxTokens = min(requests[i].MaxTokens, most)
			}
			for tokens := range 2 {
				if name == "interp" && !sweep.Every(2, tokens) { // it is slow
					continue
				}
				m, err := llm.Open(dev, path, llm.Options{Sequences: 3, Tokens: tokens})
				if err != nil {
					t.Fatal(err)
				}
				m.Crowd(2 - tokens)
				_, last := texts(t, m, prompts, requests)
				for i, token := range last {
					if token.Finish == llm.Unfinished {
						t.Errorf("Tokens %d: text %d ends with %+v", tokens, i, token)
					}
				}
				if s := settled(m); s.Running != 0 || s.UsedPages != 0 || s.Prompt == 0 || s.Steps < int64(most) || s.Waited <= 0 || s.All < s.Waited+s.Prompts {
					t.Errorf("Tokens %d: afterwards %+v", tokens, s)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestLongPrompt begins a short text while a long prompt is being computed. The short one has its first token before.
func TestLongPrompt(t *testing.T) {
	dev := kerneltest.Device(t, kerneltest.Executions()["interp"])
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), llm.Options{Sequences: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Chunk(16)
	long := make(chan time.Time, 1)
	go func() {
		for range m.Generate(t.Context(), strings.Repeat("long", 25), llm.Request{MaxTokens: 1}) {
		}
		long <- time.Now()
	}()
	for m.Stats().Running == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, last := text(t, m, "a short prompt", llm.Request{MaxTokens: 1}); last.Finish != llm.Limited {
		t.Errorf("the short text ends with %+v", last)
	}
	if short := time.Now(); (<-long).Before(short) {
		t.Error("the long prompt ends before the short one")
	}
}

// settled returns the Stats when no text runs or waits any more, or after a minute: a text's last token arrives before its memory is free.
func settled(m *llm.Model) llm.Stats {
	s := m.Stats()
	for end := time.Now().Add(time.Minute); s.Running+s.Waiting+s.UsedPages > 0 && time.Now().Before(end); s = m.Stats() {
		time.Sleep(time.Millisecond)
	}
	return s
}

// TestKnownTexts continues several texts, each of which finds its own tokens in the cache.
func TestKnownTexts(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 3})
	prompts, requests, usage := []string{"one and more", "two of them", "three"}, make([]llm.Request, 3), make([]llm.Usage, 3)
	for i := range requests {
		requests[i] = llm.Request{MaxTokens: 4, Usage: &usage[i]}
	}
	texts(t, m, prompts, requests)
	for i, p := range prompts {
		if usage[i].Known != 0 || usage[i].Prompt != len(p) || usage[i].Generated != 4 {
			t.Errorf("text %d: %+v", i, usage[i])
		}
		prompts[i] += "..."
	}
	texts(t, m, prompts, requests)
	for i, p := range prompts {
		if want := len(p) - len("..."); usage[i].Known < want || usage[i].Prompt != len(p) {
			t.Errorf("text %d, continued: %+v, want %d known tokens", i, usage[i], want)
		}
	}
	if s := m.Stats(); s.Known != int64(usage[0].Known+usage[1].Known+usage[2].Known) {
		t.Errorf("%+v", s)
	}
}

// TestLeaving cancels texts in the middle and while they wait. The others go on, and the memory is free soon.
func TestLeaving(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 2})
	want, _ := text(t, m, "Hello", llm.Request{MaxTokens: 30})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			n := 0
			for _, err := range m.Generate(ctx, fmt.Sprint(i, "?"), llm.Request{}) {
				if n++; n == 3 {
					cancel()
				}
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s := settled(m); s.UsedPages+s.Running+s.Waiting > 0 {
		t.Fatalf("canceled texts have memory: %+v", s)
	}
	if got, _ := text(t, m, "Hello", llm.Request{MaxTokens: 30}); got != want {
		t.Errorf("afterwards: got %q, want %q", got, want)
	}
}

// TestSlowReader reads most of a text after all of it has been generated. Nothing is lost.
func TestSlowReader(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 2})
	request := llm.Request{MaxTokens: 200, IgnoreEnd: true}
	want, _ := text(t, m, "x", request)
	var got strings.Builder
	for token, err := range m.Generate(t.Context(), "x", request) {
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(token.Text)
		for m.Stats().Running > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	if got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// TestClose closes a model while texts are generated and others wait.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	began := make(chan bool, 100)
	var all sync.WaitGroup
	var ended, closed sync.Map
	for i := range 6 {
		all.Go(func() {
			for token, err := range m.Generate(t.Context(), fmt.Sprint(i), llm.Request{MaxTokens: 40}) {
				switch {
				case errors.Is(err, llm.ErrClosed):
					closed.Store(i, true)
				case err != nil:
					t.Error(err)
				case token.Finish != llm.Unfinished:
					ended.Store(i, true)
				default:
					began <- true
				}
				if len(began) > 90 {
					<-began
				}
			}
		})
	}
	<-began
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	count := func(x *sync.Map) (n int) {
		x.Range(func(any, any) bool { n++; return true })
		return n
	}
	if e, c := count(&ended), count(&closed); e < 1 || c < 1 || e+c != 6 {
		t.Errorf("%d texts ended, %d were refused", e, c)
	}
	if err := errors.Join(m.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
	if err := m.Health(); !errors.Is(err, llm.ErrClosed) {
		t.Errorf("Health of a closed model: %v", err)
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// TestFault takes the device's memory while a text is generated. All texts end with the error, and the model says that it cannot serve.
func TestFault(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 2})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			var last error
			for _, err := range m.Generate(t.Context(), fmt.Sprint(i), llm.Request{}) {
				dev.SetMemoryLimit(1)
				last = err
			}
			if i < 2 && last != nil && !errors.Is(last, device.ErrMemory) {
				t.Errorf("text %d ends with %v", i, last)
			}
		})
	}
	all.Wait()
	if err := m.Health(); !errors.Is(err, device.ErrMemory) {
		t.Errorf("Health: %v", err)
	}
	if s := settled(m); s.Running != 0 || s.Waiting != 0 {
		t.Errorf("afterwards: %+v", s)
	}
	for _, err := range m.Generate(t.Context(), "x", llm.Request{}) {
		if !errors.Is(err, device.ErrMemory) {
			t.Errorf("a text after the fault ends with %v", err)
		}
	}
	dev.SetMemoryLimit(0)
	if err := errors.Join(m.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
}

// flatTexts is the number of texts of TestFlat.
var flatTexts = flag.Int("flat", 240, "texts that TestFlat generates")

// TestFlat generates many texts and compares the memory of the device and of the heap afterwards with those before.
func TestFlat(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	measure := func() (int64, uint64) {
		prompts, requests := make([]string, 40), make([]llm.Request, 40)
		for i := range prompts {
			prompts[i], requests[i] = fmt.Sprint(i*i, "text"), llm.Request{MaxTokens: 3 + i%5, Temperature: 1, Seed: uint64(i), N: 1 + i%2, User: fmt.Sprint(i % 3)}
		}
		texts(t, m, prompts, requests)
		settled(m)
		runtime.GC()
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		s, err := dev.MemoryStats()
		if err != nil {
			t.Fatal(err)
		}
		return s.Used, heap.HeapAlloc
	}
	used, heap := measure()
	for range *flatTexts/40 - 2 {
		measure()
	}
	// How many texts a step has depends on time, and the first step of a size makes buffers that stay. A leak of each text would be larger.
	if u, h := measure(); u > used+24<<10 || h > heap+1<<20 {
		t.Errorf("after %d texts, %d bytes of the device and %d of the heap are in use; after 40, %d and %d", *flatTexts, u, h, used, heap)
	}
}

// TestStorm generates texts that are canceled at random, that are not read, and that others wait for, with memory for few of them. The
// texts that are read to their end are right, and no memory is in use afterwards.
func TestStorm(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), llm.Options{Sequences: 4, Tokens: 1, WaitingTexts: 30})
	m.Chunk(16)
	prompts, requests := make([]string, 6), make([]llm.Request, 6)
	want := make([]string, 6)
	for i := range prompts {
		prompts[i] = strings.Repeat("storm ", 9) + strings.Repeat(fmt.Sprint(i), 1+13*i)
		requests[i] = llm.Request{MaxTokens: 30, Temperature: 1, Seed: uint64(i), Priority: i % 2, User: fmt.Sprint(i % 3)}
		want[i], _ = text(t, m, prompts[i], requests[i])
	}
	rounds := 4
	if sweep.Whole() {
		rounds = 8
	}
	var all sync.WaitGroup
	for user := range 24 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(user), 1))
			for range rounds {
				storm(t, m, r, func(i int) (string, llm.Request, string) { return prompts[i], requests[i], want[i] })
			}
		})
	}
	all.Wait()
	if s := settled(m); s.UsedPages+s.Running+s.Waiting > 0 {
		t.Errorf("afterwards: %+v", s)
	}
	for i := range prompts {
		if got, _ := text(t, m, prompts[i], requests[i]); got != want[i] {
			t.Errorf("afterwards, text %d is %q, want %q", i, got, want[i])
		}
	}
}

// storm generates a text and reads it to its end, or does not.
func storm(t *testing.T, m *llm.Model, r *rand.Rand, task func(i int) (prompt string, q llm.Request, want string)) {
	prompt, q, want := task(r.IntN(6))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	leave, got := 1+r.IntN(40), ""
	if r.IntN(3) == 0 {
		q.N = 3
	}
	if r.IntN(4) == 0 {
		time.AfterFunc(time.Duration(r.IntN(5))*time.Millisecond, cancel)
	}
	n := 0
	for token, err := range m.Generate(ctx, prompt, q) {
		if errors.Is(err, context.Canceled) || errors.Is(err, llm.ErrBusy) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		if token.Choice == 0 {
			got += token.Text
		}
		if n++; n == leave {
			return
		}
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
