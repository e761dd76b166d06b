package finetune_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/weights"
)

// large makes TestLargePlan train models of 1B and 8B parameters.
var large = flag.Bool("large", false, "train models of 1B and 8B parameters on a GPU in TestLargePlan")

// shape is the size of a model.
type shape struct{ layers, hidden, ffn, heads, keyHeads, words int }

// write writes a model whose bfloat16 weights are holes in a file, which are zeros.
func (x shape) write(t *testing.T) string {
	t.Helper()
	const headDim = 128
	folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM", Matrices: weights.BF16, Change: func(config map[string]any) {
		for key, n := range map[string]int{
			"num_hidden_layers": x.layers, "hidden_size": x.hidden, "intermediate_size": x.ffn, "num_attention_heads": x.heads, "num_key_value_heads": x.keyHeads,
			"head_dim": headDim, "vocab_size": x.words, "max_position_embeddings": 8192,
		} {
			config[key] = n
		}
	}})
	header, at := map[string]any{}, 0
	add := func(name string, shape ...int) {
		n := 2
		for _, d := range shape {
			n *= d
		}
		header[name] = map[string]any{"dtype": "BF16", "shape": shape, "data_offsets": []int{at, at + n}}
		at += n
	}
	add("model.embed_tokens.weight", x.words, x.hidden)
	add("lm_head.weight", x.words, x.hidden)
	add("model.norm.weight", x.hidden)
	for i := range x.layers {
		queries, keys := x.heads*headDim, x.keyHeads*headDim
		for name, size := range map[string][]int{
			"input_layernorm": {x.hidden}, "post_attention_layernorm": {x.hidden}, "self_attn.q_proj": {queries, x.hidden}, "self_attn.k_proj": {keys, x.hidden},
			"self_attn.v_proj": {keys, x.hidden}, "self_attn.o_proj": {x.hidden, queries}, "mlp.gate_proj": {x.ffn, x.hidden}, "mlp.up_proj": {x.ffn, x.hidden}, "mlp.down_proj": {x.hidden, x.ffn},
		} {
			add(fmt.Sprintf("model.layers.%d.%s.weight", i, name), size...)
		}
	}
	text, err := json.Marshal(header)
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	name := filepath.Join(folder, "model.safetensors")
	text = append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	if err := errors.Join(err, os.WriteFile(name, text, 0o600), os.Truncate(name, int64(len(text)+at))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// words returns a file of texts that fill packs of a length.
func words(t *testing.T, length int) string {
	t.Helper()
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, `{"text": "%d%s"}`+"\n", i, strings.Repeat("~", length-8))
	}
	name := filepath.Join(t.TempDir(), "words.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLargePlan compares plans with the memory that trainings of large models take on a GPU, where there is enough memory and where there is not. The
// weights are zeros, so there is nothing to learn.
func TestLargePlan(t *testing.T) {
	if !*large {
		t.Skip("takes a minute; -large runs it")
	}
	model1B, model8B := shape{16, 2048, 8192, 16, 8, 128256}.write(t), shape{32, 4096, 14336, 32, 8, 128256}.write(t)
	data := words(t, 2048)
	for _, x := range []struct {
		name  string
		limit int64 // GiB, or 0
		c     finetune.Config
	}{
		{"8B, LoRA", 0, finetune.Config{Model: model8B}},
		{"1B, full", 0, finetune.Config{Model: model1B, Method: "full"}},
		{"8B, LoRA, in 25 GiB", 25, finetune.Config{Model: model8B}},
		{"8B, LoRA, in 21 GiB", 21, finetune.Config{Model: model8B}},
		{"1B, full, 8 bits", 0, finetune.Config{Model: model1B, Method: "full", Optimizer: "adamw_8bit"}},
		{"1B, full, in 26 GiB", 26, finetune.Config{Model: model1B, Method: "full"}},
		{"8B, full, in 80 GiB", 80, finetune.Config{Model: model8B, Method: "full"}},
		{"8B, LoRA, in 16 GiB", 16, finetune.Config{Model: model8B}},
		{"8B, LoRA, norms and SwiGLU", 0, finetune.Config{Model: model8B, Recompute: "cheap"}},
		{"8B, LoRA, MLPs", 0, finetune.Config{Model: model8B, Recompute: "mlp"}},
		{"8B, LoRA, layers", 0, finetune.Config{Model: model8B, Recompute: "layers"}},
		{"1B, full, layers", 0, finetune.Config{Model: model1B, Method: "full", Recompute: "layers"}},
	} {
		c := x.c
		c.Data, c.Out, c.Length, c.Steps, c.Epochs = []string{data}, filepath.Join(t.TempDir(), "out"), 2048, 4, 1
		t.Run(x.name, func(t *testing.T) {
			trainLarge(t, kerneltest.Device(t, kerneltest.Executions()["cuda"]), x.limit, c)
		})
	}
}

// trainLarge takes three steps of a training in a number of GiB, unless it is 0, and compares the memory with the plan.
func trainLarge(t *testing.T, dev *device.Device, limit int64, c finetune.Config) {
	t.Helper()
	dev.SetMemoryLimit(limit << 30)
	began := time.Now()
	tr, err := finetune.New(dev, c)
	loaded := time.Since(began)
	if errors.Is(err, finetune.ErrMemory) {
		t.Logf("refused after %.2f s: %v", loaded.Seconds(), err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var peak int64
	times := []time.Time{time.Now()}
	p := tr.Plan()
	err = tr.Run(t.Context(), func(p finetune.Progress) error {
		times = append(times, time.Now())
		if used, err := dev.MemoryStats(); err == nil {
			peak = used.Peak
		}
		if p.Step == 3 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Error(err)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	gib := func(n int64) float64 { return float64(n) / (1 << 30) }
	t.Logf("plan %.2f GiB, took %.2f, off by %.2f %%; weights %.2f, masters %.2f, gradients %.2f, optimizer %.2f, activations %.2f, workspace %.2f; %+v; loaded in %.1f s, a step of %.0f ms",
		gib(p.Total), gib(peak), 100*(float64(p.Total)/float64(peak)-1), gib(p.Weights), gib(p.Masters), gib(p.Gradients), gib(p.Optimizer), gib(p.Activations), gib(p.Workspace), p.Recompute,
		loaded.Seconds(), 1e3*times[len(times)-1].Sub(times[len(times)-2]).Seconds())
	if off := float64(p.Total)/float64(peak) - 1; math.Abs(off) > 0.05 {
		t.Errorf("the plan is %d bytes, the training took %d", p.Total, peak)
	}
}

// errEnough ends a training.
var errEnough = errors.New("enough")
