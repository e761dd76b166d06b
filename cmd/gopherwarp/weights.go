package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

type weightsCommand struct {
	File   string `arg:"" help:"A GGUF or safetensors file, an index of safetensors files, or a folder with one of these."`
	JSON   bool   `name:"json" xor:"output" help:"Print everything as JSON, with long metadata values in full."`
	Sum    bool   `xor:"output" help:"Print the SHA-256 of each file, as the command sha256sum does."`
	Verify bool   `xor:"output" help:"Compare the SHA-256 of each file with the one that a download recorded."`
}

// Help is the text after the flags.
func (weightsCommand) Help() string {
	return `Prints the metadata and the tensors of a model's weights, and the totals for each type of tensor. It reads only the
headers of files. It does not read files that torch.save wrote, because they are Python pickles.

-verify finds the SHA-256 of a file in one of these places: the name of its blob in a cache of Hugging Face or Ollama, the
folder .cache/huggingface/download of a download, SHA256SUMS, or a file with the same name and .sha256 at its end. The exit
code is 1 if the SHA-256 of a file differs or is not found.

Example:
  gopherwarp weights model.gguf
  gopherwarp weights -json model.safetensors | jq '.tensors[].name'
  gopherwarp weights -sum . >SHA256SUMS
  gopherwarp weights -verify models/Llama-3.1-8B`
}

// Run runs the command.
func (c *weightsCommand) Run(ctx context.Context, t terminal) error {
	f, err := formats.Open(c.File)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		err = printWeightsJSON(t, f)
	case c.Sum || c.Verify:
		err = c.sums(ctx, t, f)
	default:
		err = newWeightsTable(t.out, f).print()
	}
	return errors.Join(err, f.Close())
}

// weightsJSON is what the command prints with -json.
type weightsJSON struct {
	Format   string        `json:"format"`
	Metadata []entryJSON   `json:"metadata"`
	Tensors  []tensorJSON  `json:"tensors"`
	Totals   []weightTotal `json:"totals"`
}

type entryJSON struct {
	Key   string `json:"key"`
	Type  string `json:"type"` // as in Go
	Value any    `json:"value"`
}

type tensorJSON struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	File  string `json:"file"`
	From  int64  `json:"from"` // offset in bytes
	To    int64  `json:"to"`
}

// weightTotal is the sum of all tensors of a type.
type weightTotal struct {
	Type     string `json:"type"`
	Tensors  int    `json:"tensors"`
	Elements uint64 `json:"elements"`
	Bytes    int64  `json:"bytes"`
}

func printWeightsJSON(t terminal, f *weights.File) error {
	out := weightsJSON{Format: f.Format, Metadata: []entryJSON{}, Tensors: []tensorJSON{}, Totals: weightTotals(f)}
	for _, e := range f.Metadata {
		out.Metadata = append(out.Metadata, entryJSON{e.Key, strings.ReplaceAll(fmt.Sprintf("%T", e.Value), "interface {}", "any"), jsonValue(e.Value)})
	}
	for _, x := range f.Tensors {
		file, from, to := x.Range()
		out.Tensors = append(out.Tensors, tensorJSON{x.Name(), x.Type().String(), append([]int{}, x.Shape()...), file, from, to})
	}
	e := json.NewEncoder(t.out)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// jsonValue returns a metadata value as package json can encode it: numbers that JSON lacks, NaN and the infinities, become strings, and
// bytes become numbers.
func jsonValue(v any) any {
	switch v := v.(type) {
	case float32:
		return jsonFloat(float64(v), v)
	case float64:
		return jsonFloat(v, v)
	case []float32:
		return jsonValues(v)
	case []float64:
		return jsonValues(v)
	case []uint8:
		return jsonValues(v)
	case []any:
		return jsonValues(v)
	}
	return v
}

// jsonFloat returns v, which equals x, or a string.
func jsonFloat(x float64, v any) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	return v
}

func jsonValues[T any](values []T) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = jsonValue(v)
	}
	return list
}

// weightTotals returns the totals of the types, in the order of their first tensors.
func weightTotals(f *weights.File) []weightTotal {
	totals := []weightTotal{}
	at := map[weights.Type]int{}
	for _, x := range f.Tensors {
		i, ok := at[x.Type()]
		if !ok {
			i = len(totals)
			at[x.Type()] = i
			totals = append(totals, weightTotal{Type: x.Type().String()})
		}
		totals[i].Tensors++
		totals[i].Elements += uint64(x.Len())
		totals[i].Bytes += int64(x.Size())
	}
	return totals
}
