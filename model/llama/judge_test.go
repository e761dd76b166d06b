package llama_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// judge prints the logits that the Python package transformers computes for tokens, for models in several folders.
const judge = `
import json, sys, torch, transformers
for folder in sys.argv[2:]:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64)
    with torch.no_grad():
        print(json.dumps(model(torch.tensor([json.loads(sys.argv[1])])).logits[0].tolist()))
`

// TestTransformers compares logits with those of the Python package transformers. The environment variable GOPHERWARP_PYTHON names
// another interpreter than python3.
func TestTransformers(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import torch, transformers").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import torch and transformers: %v\n%s", python, err, out)
	}
	tokens := prompt(70, 5)
	list, err := json.Marshal(tokens)
	if err != nil {
		t.Fatal(err)
	}
	options := []llamatest.FolderOptions{
		{Architecture: "LlamaForCausalLM", Change: scaled}, {Architecture: "MistralForCausalLM"}, {Architecture: "Qwen2ForCausalLM"}, {Architecture: "Qwen3ForCausalLM"},
	}
	args := []string{"-c", judge, string(list)}
	for _, o := range options {
		args = append(args, llamatest.WriteFolder(t, o))
	}
	c := exec.CommandContext(t.Context(), python, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for i, o := range options {
		t.Run(o.Architecture, func(t *testing.T) {
			var want [][]float64
			if err := d.Decode(&want); err != nil {
				t.Fatal(err)
			}
			m, cache, run := load(t, cpu.Open, args[3+i])
			run(func(s *tensor.Scope) error {
				x, err := m.Forward(s, cache, llama.Span{Tokens: tokens})
				if err != nil {
					return err
				}
				compare(t, m.Logits(x), want)
				return nil
			})
		})
	}
}
