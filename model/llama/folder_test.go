package llama_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// scaled adds the scaling of Llama 3 to a config.json.
func scaled(config map[string]any) {
	config["rope_scaling"] = map[string]any{"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 100}
}

// TestFolders compares the logits of models of all architectures in folders with a float64 reference, for a prompt and two more tokens.
func TestFolders(t *testing.T) {
	for i, o := range []llamatest.FolderOptions{
		{Architecture: "LlamaForCausalLM", Matrices: weights.F32, Shards: true}, {Architecture: "LlamaForCausalLM", Change: scaled},
		{Architecture: "MistralForCausalLM", Matrices: weights.F16}, {Architecture: "Qwen2ForCausalLM"}, {Architecture: "Qwen3ForCausalLM"},
	} {
		path := llamatest.WriteFolder(t, o)
		r := newReference(t, path)
		if o.Change != nil {
			r.scaling = &llama.Scaling{Factor: 8, Low: 1, High: 4, Context: 100}
		}
		tokens := prompt(67, 4)
		want := r.logits(tokens)
		for name, open := range kerneltest.Executions() {
			if name == "native" || name == "scalar" && o.Matrices != weights.F32 {
				continue // they are slow
			}
			if name == "interp" && !sweep.Every(4, i) {
				continue // it is slower
			}
			t.Run(fmt.Sprintf("%s/%v/%v/%s", o.Architecture, o.Matrices, o.Change != nil, name), func(t *testing.T) {
				m, c, run := load(t, open, path)
				for _, part := range [][2]int{{0, 65}, {65, 66}, {66, 67}} {
					run(func(s *tensor.Scope) error {
						x, err := m.Forward(s, c, llama.Span{Sequence: 1, Tokens: tokens[part[0]:part[1]]})
						if err != nil {
							return err
						}
						compare(t, m.Logits(x), want[part[0]:part[1]])
						return nil
					})
				}
			})
		}
	}
}

// TestConfigErrors parses config.json files that cannot be used.
func TestConfigErrors(t *testing.T) {
	for _, x := range []struct {
		change func(config map[string]any)
		want   error
		text   string
	}{
		{func(c map[string]any) { c["architectures"] = []string{"MambaForCausalLM"} }, llama.ErrArchitecture, "MambaForCausalLM"},
		{func(c map[string]any) { delete(c, "architectures") }, llama.ErrArchitecture, "config.json"},
		{func(c map[string]any) { c["hidden_act"] = "gelu" }, llama.ErrConfig, `"gelu"`},
		{func(c map[string]any) { c["quantization_config"] = map[string]any{"bits": 4} }, llama.ErrConfig, "quantization_config"},
		{func(c map[string]any) { c["rope_scaling"] = map[string]any{"type": "yarn", "factor": 2} }, llama.ErrConfig, "yarn"},
		{func(c map[string]any) { c["rope_scaling"] = map[string]any{"type": "llama3", "factor": 2} }, llama.ErrConfig, "Factor:2"},
		{func(c map[string]any) { c["rope_scaling"] = map[string]any{"type": "linear"} }, llama.ErrConfig, "factor is 0, want a positive number"},
		{func(c map[string]any) { c["num_key_value_heads"] = 3 }, llama.ErrConfig, "num_key_value_heads is 3, want a divisor of "},
		{func(c map[string]any) { delete(c, "hidden_size") }, llama.ErrConfig, "hidden_size is 0, want 1 to 16777216"},
		{func(c map[string]any) { c["hidden_size"] = "64" }, llama.ErrConfig, "hidden_size"},
	} {
		folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM", Change: x.change})
		text, err := os.ReadFile(filepath.Join(folder, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := llama.ParseConfig(text); !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) {
			t.Errorf("%q: got %v", x.text, err)
		}
	}
}

// TestConfigs parses what config.json files may have or lack.
func TestConfigs(t *testing.T) {
	for text, want := range map[string]llama.Config{
		`"architectures":["MistralForCausalLM"],"sliding_window":512`:                                                                  {Context: 512, HeadDim: 16, Base: 10000, Linear: 1},
		`"architectures":["Qwen2ForCausalLM"],"sliding_window":512,"use_sliding_window":false`:                                         {Context: 4096, HeadDim: 16, Base: 10000, Linear: 1, QueryBias: true},
		`"architectures":["Qwen3ForCausalLM"],"rope_parameters":{"rope_theta":1e6}`:                                                    {Context: 4096, HeadDim: 128, Base: 1e6, Linear: 1, HeadNorms: true},
		`"architectures":["LlamaForCausalLM"],"head_dim":null,"attention_bias":true,"mlp_bias":true,"rope_scaling":null`:               {Context: 4096, HeadDim: 16, Base: 10000, Linear: 1, QueryBias: true, OutputBias: true, MLPBias: true},
		`"architectures":["LlamaForCausalLM"],"rope_theta":5e5,"tie_word_embeddings":true,"rope_scaling":{"type":"linear","factor":4}`: {Context: 4096, HeadDim: 16, Base: 5e5, Linear: 4, Tied: true},
	} {
		want.Layers, want.Hidden, want.FFN, want.Heads, want.KeyHeads, want.Vocabulary, want.Epsilon, want.Rotary = 2, 64, 96, 4, 4, 100, 1e-6, want.HeadDim
		got, err := llama.ParseConfig([]byte(`{"num_hidden_layers":2,"hidden_size":64,"intermediate_size":96,"num_attention_heads":4,"vocab_size":100,"max_position_embeddings":4096,` + text + `}`))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"architectures":["LlamaForCausalLM"],"num_hidden_layers":2,"hidden_size":64,"intermediate_size":96,"num_attention_heads":4,"vocab_size":100,"max_position_embeddings":4096}`))
	f.Add([]byte(`{"architectures":["Qwen3ForCausalLM"],"partial_rotary_factor":1e300,"rope_scaling":{"type":"llama3"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := llama.ParseConfig(text)
		if err == nil && (c.Heads%c.KeyHeads != 0 || c.Rotary > c.HeadDim || c.Context < 1) {
			t.Errorf("%s: %+v", text, c)
		}
		if err != nil && !errors.Is(err, llama.ErrConfig) && !errors.Is(err, llama.ErrArchitecture) {
			t.Errorf("%s: %v", text, err)
		}
	})
}

// TestFolderErrors loads folders that lack tensors, or have more.
func TestFolderErrors(t *testing.T) {
	for name, x := range map[string]struct {
		architecture string
		as           string // in config.json
		want         error
	}{
		"biases that are not there": {"LlamaForCausalLM", "Qwen2ForCausalLM", nn.ErrMissing}, "norms that are not there": {"LlamaForCausalLM", "Qwen3ForCausalLM", nn.ErrMissing},
		"biases that are not used": {"Qwen2ForCausalLM", "LlamaForCausalLM", nn.ErrUnused}, "no output matrix": {"Qwen2ForCausalLM", "untied", nn.ErrMissing},
	} {
		folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: x.architecture, Change: func(c map[string]any) {
			if x.as == "untied" {
				c["tie_word_embeddings"] = false
			} else {
				c["architectures"] = []string{x.as}
			}
		}})
		f, err := formats.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, err := os.ReadFile(filepath.Join(folder, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := llama.ParseConfig(text)
		if err != nil {
			t.Fatal(err)
		}
		s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
		if _, err := llama.Load(s, f, llama.LoadOptions{Config: c}); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
