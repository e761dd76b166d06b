package llm_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// adapters writes adapters, and returns their folders by their names.
func adapters(t *testing.T, n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint("adapter ", i)] = llamatest.WriteAdapter(t, uint64(i))
	}
	return all
}

// merged returns the path of a model whose weights contain an adapter.
func merged(t *testing.T, path, adapter string) string {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := llama.ConfigOf(f)
	if err != nil {
		t.Fatal(err)
	}
	o, list, err := lora.Read(c.Linears(), adapter)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Merge(f, o, list)
	to := filepath.Join(t.TempDir(), "merged.gguf")
	if err := errors.Join(err, gguf.Save(to, all)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestAdapters generates texts with different adapters and without one at once, with memory for all of them and with memory for few, and
// compares them with those of models that have one adapter in their weights. Their prompts begin with the same pages.
func TestAdapters(t *testing.T) {
	path, folders := llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), adapters(t, 3)
	names := append([]string{""}, slices.Sorted(maps.Keys(folders))...)
	var prompts, want []string
	var requests []llm.Request
	for i, name := range names {
		own := path
		if name != "" {
			own = merged(t, path, folders[name])
		}
		alone := open(t, own, llm.Options{})
		for j := range 3 {
			prompts = append(prompts, strings.Repeat("the same words. ", 12)[:172+j%2]+strings.Repeat(string(rune('a'+j)), i+j))
			requests = append(requests, llm.Request{MaxTokens: 12 + 3*i + j, Adapter: name})
			r := requests[len(requests)-1]
			r.Adapter = ""
			one, _ := text(t, alone, prompts[len(prompts)-1], r)
			want = append(want, one)
		}
	}
	for _, o := range []llm.Options{{Sequences: 12, Tokens: 4000}, {Sequences: 12, Tokens: 1}, {Sequences: 1}} {
		o.Adapters = folders
		m := open(t, path, o)
		if got := m.Adapters(); !slices.Equal(got, names[1:]) {
			t.Errorf("adapters %q, want %q", got, names[1:])
		}
		for range 2 { // the second time, the cache knows the prompts
			got, _ := texts(t, m, prompts, requests)
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%+v: text %d with %q is %q, want %q", o, i, requests[i].Adapter, got[i], want[i])
				}
			}
		}
		if s := settled(m); s.Known == 0 || s.Adapters != 3 || len(s.RunningAdapters)+len(s.WaitingAdapters) > 0 {
			t.Errorf("%+v: afterwards %+v", o, s)
		}
	}
}

// TestAdaptersDeterministic compares texts with different adapters that are generated alone with the same texts among others.
func TestAdaptersDeterministic(t *testing.T) {
	for _, c := range []struct {
		name string
		open kerneltest.Opener
		of   weights.Type
	}{{"F32", cpu.Open, weights.F32}, {"Q4_1", cpu.Open, weights.Q4_1}, {"cuda, F32", kerneltest.Executions()["cuda"], weights.F32}, {"cuda, Q4_1", kerneltest.Executions()["cuda"], weights.Q4_1}} {
		t.Run(c.name, func(t *testing.T) {
			dev := kerneltest.Device(t, c.open)
			path, folders := llamatest.Write(t, llamatest.Options{Matrices: c.of}), adapters(t, 4)
			n := 16
			if dev.Info().Kind == "cpu" && !sweep.Whole() {
				n = 10 // two of each adapter
			}
			prompts, requests := various(n)
			for i := range requests {
				requests[i].Adapter = append(slices.Sorted(maps.Keys(folders)), "")[i%5]
			}
			o := llm.Options{Sequences: 16, Tokens: 4000, Deterministic: true, Adapters: folders}
			m, err := llm.Open(dev, path, o)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			got, _ := texts(t, m, prompts, requests)
			for i := range got {
				if want, _ := text(t, m, prompts[i], requests[i]); got[i] != want {
					t.Errorf("text %d among others is %q, alone %q", i, got[i], want)
				}
			}
		})
	}
}

func TestAdapterErrors(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	m := open(t, path, llm.Options{Adapters: adapters(t, 1)})
	for _, err := range m.Generate(t.Context(), "x", llm.Request{Adapter: "adapter 1"}) {
		if !errors.Is(err, llm.ErrAdapter) {
			t.Errorf("another name: %v", err)
		}
	}
	dev := kerneltest.Device(t, cpu.Open)
	if _, err := llm.Open(dev, path, llm.Options{Adapters: map[string]string{"none": t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "adapter none: ") {
		t.Errorf("an empty folder: %v", err)
	}
	wide := llamatest.Write(t, llamatest.Options{Wide: true})
	if _, err := llm.Open(dev, wide, llm.Options{Adapters: adapters(t, 1)}); !errors.Is(err, lora.ErrFormat) {
		t.Errorf("an adapter of another model: %v", err)
	}
	if owners := dev.Owners(); len(owners) > 0 {
		t.Errorf("memory that is not freed: %v", owners)
	}
}

// TestAdapterStats generates texts with two adapters, of which one waits.
func TestAdapterStats(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 1, Adapters: adapters(t, 3)})
	ctx, cancel := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	defer waits.Wait()
	defer cancel()
	asked := false
	for range m.Generate(ctx, "x", llm.Request{Adapter: "adapter 2", IgnoreEnd: true}) {
		if !asked {
			waits.Go(func() {
				for range m.Generate(ctx, "y", llm.Request{Adapter: "adapter 0"}) {
				}
			})
			for m.Stats().Waiting == 0 {
				time.Sleep(time.Millisecond)
			}
			asked = true
		}
		s := m.Stats()
		if s.Adapters != 3 || !slices.Equal(s.RunningAdapters, []string{"adapter 2"}) {
			t.Fatalf("%d adapters, %q run", s.Adapters, s.RunningAdapters)
		}
		if slices.Equal(s.WaitingAdapters, []string{"adapter 0"}) {
			return
		}
	}
	t.Error("no adapter waits")
}
