package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

type adapterCommand struct {
	Info   adapterInfo   `cmd:"" help:"Describe an adapter."`
	Merge  adapterMerge  `cmd:"" help:"Write a model with an adapter added to its weights."`
	Export adapterExport `cmd:"" help:"Write an adapter as a GGUF file for llama.cpp."`
}

// Help is the text after the flags.
func (adapterCommand) Help() string {
	return `Describes and converts LoRA adapters: folders that gopherwarp finetune or the Python package PEFT wrote.

Example:
  gopherwarp adapter info adapter
  gopherwarp adapter merge -model SmolLM2-135M-Instruct.Q4_1.gguf -out merged.gguf adapter
  gopherwarp adapter export -model SmolLM2-135M-Instruct.Q4_1.gguf -out adapter.gguf adapter`
}

type adapterInfo struct {
	Adapter string `arg:"" help:"The folder of an adapter."`
}

// Help is the text after the flags.
func (adapterInfo) Help() string {
	return `Prints the form of an adapter, the layers that it changes, and its size.

Example:
  gopherwarp adapter info adapter`
}

// Run runs the command.
func (c *adapterInfo) Run(_ context.Context, t terminal) error {
	o, err := lora.ReadOptions(c.Adapter)
	if err != nil {
		return err
	}
	f, err := safetensors.Open(filepath.Join(c.Adapter, "adapter_model.safetensors"))
	if err != nil {
		return err
	}
	parameters, layers := 0, 0
	for _, x := range f.Tensors {
		if parameters += x.Len(); strings.HasSuffix(x.Name(), ".lora_A.weight") {
			layers++
		}
	}
	scaling := "alpha/rank"
	if o.RankStabilized {
		scaling = "alpha/sqrt(rank)"
	}
	kind := "LoRA"
	if o.DoRA {
		kind = "DoRA"
	}
	console.Print(t.out, fmt.Sprintf("%s, rank %d, alpha %g, scale %s = %.4g\nmodules: %s\n%d layers, %d parameters, %.1f MB\nmodel: %s",
		kind, o.Rank, o.Alpha, scaling, o.Scale(), strings.Join(o.Modules, " "), layers, parameters, float64(f.Size())/(1<<20), o.Base), 2)
	return f.Close()
}

// adapterSource are the arguments of commands that need an adapter and its model.
type adapterSource struct {
	Adapter string `arg:"" help:"The folder of an adapter."`
	Model   string `required:"" placeholder:"FILE" help:"The model of the adapter: a GGUF file, or a folder of Hugging Face."`
	Out     string `required:"" placeholder:"FILE" help:"The file to write or, for a model in a folder, the folder."`
}

// adapted is an adapter and the files of its model.
type adapted struct {
	files    *llm.Files
	config   llama.Config
	options  lora.Options
	matrices []lora.Matrices
}

// replaces returns an error if the command would replace a file that it reads.
func (c adapterSource) replaces(f *weights.File) error {
	adapter, err := os.Stat(filepath.Join(c.Adapter, "adapter_model.safetensors"))
	out, failed := os.Stat(c.Out)
	switch {
	case f.ReadsFrom(c.Out), f.ReadsFrom(filepath.Join(c.Out, "model.safetensors")):
		return fmt.Errorf("-out %s would replace the model; choose another name", c.Out)
	case err == nil && failed == nil && os.SameFile(adapter, out):
		return fmt.Errorf("-out %s would replace the adapter; choose another name", c.Out)
	}
	return nil
}

// open reads the adapter, and opens the files of its model, which the caller closes.
func (c adapterSource) open() (a adapted, err error) {
	if a.files, err = llm.OpenFiles(c.Model); err != nil {
		return a, err
	}
	if err := c.replaces(a.files.Weights); err != nil {
		return a, errors.Join(err, a.files.Weights.Close())
	}
	a.config = a.files.Config
	if a.gguf() {
		a.config, err = llama.ConfigOf(a.files.Weights)
	}
	if err == nil {
		a.options, a.matrices, err = lora.Read(a.config.Linears(), c.Adapter)
	}
	if err != nil {
		return a, errors.Join(fmt.Errorf("%s: %w", c.Adapter, err), a.files.Weights.Close())
	}
	return a, nil
}

// gguf reports whether the model is a GGUF file.
func (a adapted) gguf() bool { return strings.HasPrefix(a.files.Weights.Format, "GGUF") }

type adapterMerge struct {
	adapterSource
	Type string `enum:",F16,Q8_0,Q4_1,Q4_0" default:"" placeholder:"NAME" help:"The type of quantized matrices that the adapter changes: F16, Q8_0, Q4_1 or Q4_0. Only for GGUF files. Default: F16."`
}

// Help is the text after the flags.
func (adapterMerge) Help() string {
	return `Writes a model with an adapter added to its weights, in the format of the model: a GGUF file, or a folder with
model.safetensors and copies of the other files. Quantized matrices that the adapter changes become float16, unless -type
names another type.

Example:
  gopherwarp adapter merge -model SmolLM2-135M-Instruct.Q4_1.gguf -out merged.gguf -type Q8_0 adapter`
}

// Run runs the command.
func (c *adapterMerge) Run(_ context.Context, t terminal) error {
	a, err := c.open()
	if err != nil {
		return err
	}
	defer a.files.Weights.Close()
	if c.Type != "" && !a.gguf() {
		return exit{exitUsage, fmt.Errorf("-type is for GGUF files, and %s is none", c.Model)}
	}
	f, err := a.config.Merge(a.files.Weights, a.options, a.matrices)
	for _, of := range [...]weights.Type{weights.Q8_0, weights.Q4_1, weights.Q4_0} {
		if err == nil && c.Type == of.String() {
			f, err = quantized(f, a.files.Weights, of)
		}
	}
	if err != nil {
		return err
	}
	if a.gguf() {
		err = gguf.Save(c.Out, f)
	} else {
		err = llm.WriteFolder(c.Out, c.Model, f)
	}
	if err == nil {
		console.Print(t.err, "the model is in "+c.Out, 2)
	}
	return err
}

// quantized returns a merged model with another type of the matrices that are quantized in the original.
func quantized(merged, original *weights.File, of weights.Type) (*weights.File, error) {
	all := weights.Contents{Format: merged.Format, Metadata: merged.Metadata}
	for i, t := range merged.Tensors {
		if t.Type() != original.Tensors[i].Type() {
			wide, err := gguf.Float32(t)
			if err != nil {
				return nil, err
			}
			t, err = weights.NewComputed(weights.Spec{Name: t.Name(), Type: of, Shape: t.Shape()}, func() ([]byte, error) {
				w, err := weights.Values[float32](wide)
				if err != nil {
					return nil, err
				}
				return gguf.Quantize(of, nil, w)
			})
			if err != nil {
				return nil, err
			}
		}
		all.Tensors = append(all.Tensors, t)
	}
	return weights.New(all)
}

type adapterExport struct{ adapterSource }

// Help is the text after the flags.
func (adapterExport) Help() string {
	return `Writes an adapter of a GGUF model as a GGUF file, which llama.cpp reads with its flag --lora.

Example:
  gopherwarp adapter export -model SmolLM2-135M-Instruct.Q4_1.gguf -out adapter.gguf adapter`
}

// Run runs the command.
func (c *adapterExport) Run(_ context.Context, t terminal) error {
	a, err := c.open()
	if err != nil {
		return err
	}
	defer a.files.Weights.Close()
	f, err := a.config.ExportAdapter(a.files.Weights, a.options, a.matrices)
	if err != nil {
		return err
	}
	if err := gguf.Save(c.Out, f); err != nil {
		return err
	}
	console.Print(t.err, "the adapter is in "+c.Out, 2)
	return nil
}
