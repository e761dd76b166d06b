package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestAhead compares texts of a model that computes a token ahead, as on GPUs, with those of one that does not: texts that end at a
// stop, at a limit, at the end of the context and by the program, each of which continues in the next one.
func TestAhead(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	for name, opener := range kerneltest.Executions() {
		if name != "interp" && name != "cuda" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name == "interp" && !sweep.Whole() {
				t.Skip("TestBatchAhead has texts that are computed ahead; runs in sweeps")
			}
			dev := kerneltest.Device(t, opener)
			m, reference := openOn(t, dev, path), openOn(t, dev, path)
			reference.Behind()
			long, _ := text(t, reference, "Hello", llm.Request{MaxTokens: 12})
			requests := []llm.Request{{MaxTokens: 12}, {MaxTokens: 12, Stop: []string{long[len(long)/2:][:2]}}, {MaxTokens: 1}, {}, {MaxTokens: 12, Temperature: 1, Seed: 3, RepetitionPenalty: 1.5}}
			prompt := "Hello"
			for _, r := range requests {
				if r.Temperature > 0 {
					prompt = "Other" // of which neither model knows a token: what is computed in another way is rounded in another way
				}
				want, last := text(t, reference, prompt, r)
				got, end := text(t, m, prompt, r)
				if got != want || end != last {
					t.Fatalf("%+v: got %q, %+v, want %q, %+v", r, got, end, want, last)
				}
				if len(prompt+got) < 40 {
					prompt += strings.ToValidUTF8(got, "")
				}
			}
			for range m.Generate(t.Context(), "Hello", llm.Request{}) {
				break
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			for _, err := range m.Generate(ctx, "Hello", llm.Request{}) {
				if n++; n == 2 {
					cancel()
				} else if n > 2 && !errors.Is(err, context.Canceled) {
					t.Errorf("after cancel: %v", err)
				}
			}
			if got, _ := text(t, m, "Hello", llm.Request{MaxTokens: 12}); got != long {
				t.Errorf("after a break and a cancel: got %q, want %q", got, long)
			}
		})
	}
}

// openOn opens a model with a short context on a device.
func openOn(t *testing.T, dev *device.Device, path string) *llm.Model {
	t.Helper()
	m, err := llm.Open(dev, path, llm.Options{Context: 60})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}
