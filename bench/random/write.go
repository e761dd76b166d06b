package random

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// huggingFace returns the name of a tensor in a folder.
func huggingFace(name string) string { return llamatest.HuggingFace(name) }

// WriteFile writes a model to a GGUF file. Unlike gguf.Save, WriteFile does not wait for the disk.
func WriteFile(name string, s Shape, o Options) error {
	f, err := GGUF(s, o)
	if err != nil {
		return err
	}
	return write(name, f, gguf.Write)
}

// WriteFolder writes a model with bfloat16 weights to a folder in the format of Hugging Face, with the files config.json, tokenizer.json,
// tokenizer_config.json and model.safetensors.
func WriteFolder(folder string, s Shape, seed uint64) error {
	f, err := Safetensors(s, seed)
	if err := errors.Join(err, s.check()); err != nil {
		return err
	}
	config, err := s.Config()
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(folder, 0o755),
		os.WriteFile(filepath.Join(folder, "config.json"), config, 0o644),
		writeJSON(filepath.Join(folder, "tokenizer.json"), s.tokenizer()),
		writeJSON(filepath.Join(folder, "tokenizer_config.json"), map[string]any{
			"chat_template": template, "bos_token": specialText(begin), "eos_token": specialText(endOfTurn),
		}),
		write(filepath.Join(folder, "model.safetensors"), f, safetensors.Write),
	)
}

// write writes a file in a format.
func write(name string, f *weights.File, format func(io.Writer, *weights.File) error) error {
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(to, 1<<20)
	return errors.Join(format(buffered, f), buffered.Flush(), to.Close())
}

func writeJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
