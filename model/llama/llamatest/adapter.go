package llamatest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
)

// WriteAdapter writes a LoRA adapter to a temporary folder, in the format of the Python package PEFT, and returns the folder's path. The
// adapter changes all linear layers of a model without the option Wide. Adapters with different seeds have different ranks, up to 8, and
// change the results of the model considerably.
func WriteAdapter(tb testing.TB, seed uint64) string {
	tb.Helper()
	rank := 1 + int(seed%8)
	w := writer{tb: tb, r: rand.New(rand.NewPCG(seed, 3))}
	for i := range Layers {
		for _, l := range []struct {
			name    string
			in, out int
		}{
			{"self_attn.q_proj", Hidden, Heads * HeadDim}, {"self_attn.k_proj", Hidden, KeyHeads * HeadDim}, {"self_attn.v_proj", Hidden, KeyHeads * HeadDim},
			{"self_attn.o_proj", Heads * HeadDim, Hidden}, {"mlp.gate_proj", Hidden, FFN}, {"mlp.up_proj", Hidden, FFN}, {"mlp.down_proj", FFN, Hidden},
		} {
			name := fmt.Sprintf("base_model.model.model.layers.%d.%s", i, l.name)
			w.add(weights.Spec{Name: name + ".lora_A.weight", Type: weights.F32, Shape: []int{rank, l.in}}, w.numbers(rank*l.in, 0.2, 0))
			w.add(weights.Spec{Name: name + ".lora_B.weight", Type: weights.F32, Shape: []int{l.out, rank}}, w.numbers(l.out*rank, 0.1, 0))
		}
	}
	folder := tb.TempDir()
	w.save(filepath.Join(folder, "adapter_model.safetensors"), w.list)
	writeJSON(tb, filepath.Join(folder, "adapter_config.json"), map[string]any{
		"peft_type": "LORA", "r": rank, "lora_alpha": 2 * rank, "bias": "none", "target_modules": []string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"},
	})
	return folder
}
