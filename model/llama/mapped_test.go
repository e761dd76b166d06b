package llama_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// loadMapped loads a model from a file that is mapped, if mapped is set, and closes the file. It calls before, unless that is nil, before
// the model is loaded.
func loadMapped(t *testing.T, s *device.Stream, path string, mapped bool, before func()) (*llama.Model, error) {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var o llama.LoadOptions
	if f.Format == "safetensors" {
		text, err := os.ReadFile(filepath.Join(path, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		if o.Config, err = llama.ParseConfig(text); err != nil {
			t.Fatal(err)
		}
	}
	if mapped {
		if err := f.Map(); err != nil {
			t.Fatal(err)
		}
	}
	if before != nil {
		before()
	}
	return llama.Load(s, f, o)
}

// TestMapped compares the logits of models whose files were mapped with those of models whose files were read.
func TestMapped(t *testing.T) {
	paths := map[string]string{"F32": llamatest.Write(t, llamatest.Options{Of: func(string) weights.Type { return weights.F32 }})}
	for format, o := range models() {
		paths[format] = llamatest.Write(t, o)
	}
	paths["folder"] = llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen2ForCausalLM", Shards: true})
	s := kerneltest.Stream(t, cpu.Open)
	tokens := prompt(5, 1)
	for format, path := range paths {
		var logits [2][]float32
		for i := range logits {
			m, err := loadMapped(t, s, path, i == 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
				x, err := m.Read(scope, llama.Packed{Tokens: tokens, Lengths: []int{len(tokens)}})
				if err == nil {
					logits[i], err = tensor.Values[float32](t.Context(), m.Logits(x))
				}
				return err
			})
			if err := errors.Join(err, m.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if len(logits[0]) == 0 || !slices.Equal(logits[0], logits[1]) {
			t.Errorf("%s: the logits of the mapped model differ", format)
		}
	}
}

// TestMappedTruncated truncates mapped files before they are loaded, and demands an error and a device that still works.
func TestMappedTruncated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not truncate a mapped file")
	}
	s := kerneltest.Stream(t, cpu.Open)
	for _, of := range []weights.Type{weights.Q8_0, weights.F32, weights.F16, weights.BF16} {
		o := llamatest.Options{Of: func(string) weights.Type { return of }}
		path := llamatest.Write(t, o)
		_, err := loadMapped(t, s, path, true, func() {
			if err := os.Truncate(path, 1<<14); err != nil { // within the embedding table
				t.Fatal(err)
			}
		})
		if !errors.Is(err, weights.ErrTruncated) {
			t.Errorf("%v: %v", of, err)
		}
		m, err := loadMapped(t, s, llamatest.Write(t, o), true, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
