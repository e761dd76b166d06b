package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// rank is the rank of adapters, which change all linear layers.
const rank = 16

// load loads a model with adapters.
func (p plan) load(dev *device.Device, f *llm.Files, o llm.Options) (*llm.Model, error) {
	if p.adapters == 0 {
		return llm.Load(dev, f, o)
	}
	folder, err := os.MkdirTemp("", "adapter")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := writeAdapter(dev, f, folder); err != nil {
		return nil, err
	}
	o.Adapters = map[string]string{} // which have the same numbers, but memory of their own
	for i := range p.adapters {
		o.Adapters[fmt.Sprint("adapter", i)] = folder
	}
	return llm.Load(dev, f, o)
}

// writeAdapter writes an adapter with random numbers.
func writeAdapter(dev *device.Device, f *llm.Files, folder string) error {
	c := f.Config
	if strings.HasPrefix(f.Weights.Format, "GGUF") {
		var err error
		if c, err = llama.ConfigOf(f.Weights); err != nil {
			return err
		}
	}
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	a, err := lora.New(s, c.Linears(), lora.Options{Rank: rank, Alpha: 2 * rank})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	err = tensor.RunOn(context.Background(), s, func(scope *tensor.Scope) error {
		m, err := a.Params().Memory(scope)
		if err != nil {
			return err
		}
		r, values := rand.New(rand.NewPCG(1, 1)), make([]float32, m.Master.Len())
		for i := range values {
			values[i] = (r.Float32() - 0.5) / 32
		}
		return device.UploadTo(s, m.Master, values)
	})
	return errors.Join(err, a.Save(context.Background(), s, folder), a.Close(), s.Close())
}

// beside measures a load without adapters, and then with one for each user.
func (p plan) beside(ctx context.Context, w *tabwriter.Writer, m *llm.Model, s scenario) error {
	var rates []float64
	for i, adapters := range [][]string{nil, m.Adapters()} {
		s.seed, s.adapters = uint64(1+i), adapters
		r, err := (&steady{scenario: s, asker: direct{m}, model: m, warm: p.warm, span: p.span}).run(ctx)
		if err != nil {
			return err
		}
		fmt.Fprint(w, r.row(fmt.Sprintf("%s, %d adapters", s.name, len(adapters))))
		rates = append(rates, r.rate())
	}
	fmt.Fprintf(w, "of none\t\t%.3f\t\t\t\t\t\t\t\t\t\t\n", rates[1]/rates[0])
	return w.Flush()
}
