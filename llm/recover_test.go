package llm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestRecovery takes the device's memory while texts are generated, and returns it. The texts end with the error, the model says that it
// cannot serve, and serves again without another Open.
func TestRecovery(t *testing.T) {
	for name, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		t.Run(name, func(t *testing.T) { recovers(t, kerneltest.Device(t, open)) })
	}
}

func recovers(t *testing.T, dev *device.Device) {
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	want, _ := text(t, m, "Hello", llm.Request{MaxTokens: 30})
	for range 3 {
		var last error
		for _, err := range m.Generate(t.Context(), strings.Repeat("x", 100), llm.Request{N: 3}) {
			dev.SetMemoryLimit(1)
			last = err
		}
		if last != nil && (!errors.Is(last, llm.ErrDevice) || !errors.Is(last, device.ErrMemory)) {
			t.Errorf("texts without memory end with %v", last)
		}
		for _, err := range m.Generate(t.Context(), "x", llm.Request{}) {
			if !errors.Is(err, llm.ErrDevice) {
				t.Errorf("a text without memory ends with %v", err)
			}
		}
		if err := m.Health(); !errors.Is(err, device.ErrMemory) {
			t.Errorf("Health without memory: %v", err)
		}
		if s := settled(m); s.Running+s.Waiting+s.UsedPages > 0 {
			t.Errorf("without memory: %+v", s)
		}
		dev.SetMemoryLimit(0)
		for end := time.Now().Add(time.Minute); m.Health() != nil; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("a minute after the memory is back: %v", m.Health())
			}
		}
		if got, _ := text(t, m, "Hello", llm.Request{MaxTokens: 30}); got != want {
			t.Errorf("afterwards, got %q, want %q", got, want)
		}
	}
}

// TestCulprit generates a text whose step needs more memory than there is, beside others. Only that one ends with an error.
func TestCulprit(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	prompts := []string{"a", "b", strings.Repeat("long", 40)}
	requests := []llm.Request{{MaxTokens: 40}, {MaxTokens: 30, Temperature: 1, Seed: 2}, {MaxTokens: 3}}
	want, _ := texts(t, m, prompts, requests) // also makes the graphs
	stats, err := dev.MemoryStats()
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat("more", 40) // of which the cache knows nothing
	failed := make(chan error, 1)
	got := ""
	for token, err := range m.Generate(t.Context(), prompts[0], requests[0]) {
		if err != nil {
			t.Fatalf("the other text ends with %v", err)
		}
		if got == "" {
			dev.SetMemoryLimit(stats.Used + 256<<10) // more than the 144 KiB that all tokens of this text need, less than the 464 KiB of a long prompt
			go func() {
				var last error
				for _, err := range m.Generate(t.Context(), other, llm.Request{MaxTokens: 3}) {
					last = err
				}
				failed <- last
			}()
			if err := <-failed; !errors.Is(err, device.ErrMemory) {
				t.Errorf("the text that needs memory ends with %v", err)
			}
		}
		got += token.Text
	}
	if got != want[0] {
		t.Errorf("the other text is %q, want %q", got, want[0])
	}
	if err := m.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	dev.SetMemoryLimit(0)
	if got, _ := text(t, m, prompts[1], requests[1]); got != want[1] {
		t.Errorf("afterwards, got %q, want %q", got, want[1])
	}
}
