package finetune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// subject is what is trained.
type subject interface {
	Params() *nn.Params
	// count returns the number of parameters.
	count() int
	// save writes the result of a training to a folder.
	save(ctx context.Context, folder string) error
	// keep writes what a training continues with to the folder of a checkpoint.
	keep(ctx context.Context, folder string) error
	Close() error
}

// adapted is an adapter that is trained.
type adapted struct {
	*lora.Adapter
	stream *device.Stream
}

func (a adapted) count() (n int) {
	for _, l := range a.Layers() {
		if n += a.Rank * (l.In + l.Out); a.DoRA {
			n += l.Out
		}
	}
	return n
}

func (a adapted) save(ctx context.Context, folder string) error { return a.Save(ctx, a.stream, folder) }

func (a adapted) keep(ctx context.Context, folder string) error { return a.Save(ctx, a.stream, folder) }

// whole is a model all of whose parameters are trained.
type whole struct {
	*llama.Model
	stream *device.Stream
	path   string // of the model's files
}

// Close does nothing: the Trainer closes the model.
func (whole) Close() error { return nil }

func (w whole) count() (n int) {
	for _, q := range w.Params().Named() {
		n += product(q.Shape())
	}
	return n
}

// product returns the number of elements of a shape.
func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// save writes the model in the format of its file: model.gguf, or the files of a folder of Hugging Face.
func (w whole) save(ctx context.Context, folder string) error {
	from, err := llm.OpenFiles(w.path)
	if err != nil {
		return err
	}
	defer from.Weights.Close()
	f, err := w.Trained(ctx, w.stream, from.Weights)
	if err != nil {
		return err
	}
	if strings.HasPrefix(from.Weights.Format, "GGUF") {
		return gguf.Save(filepath.Join(folder, "model.gguf"), f)
	}
	return llm.WriteFolder(folder, w.path, f)
}

// parametersFile has the parameters of a model in float32, by their names in the model's file.
const parametersFile = "parameters.safetensors"

func (w whole) keep(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return nn.SaveFile(ctx, w.Params().Named(), filepath.Join(folder, parametersFile))
}

// restore sets all parameters to those of a checkpoint.
func (w whole) restore(folder string) error {
	if err := nn.LoadFile(w.Params(), w.Params().Named(), filepath.Join(folder, parametersFile), nn.LoadOptions{}); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return nil
}
