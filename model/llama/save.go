package llama

import (
	"context"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// Trained returns a file with the current values of all parameters of a model that was loaded with LoadOptions.Train. f is the file that the model
// was loaded from. Tensors keep the type float32, float16 or bfloat16; quantized tensors become float16. The result reads its tensors from the
// device, on the stream s, and from f, so f must remain open.
func (m *Model) Trained(ctx context.Context, s *device.Stream, f *weights.File) (*weights.File, error) {
	by, all := map[string]nn.Named{}, weights.Contents{Format: f.Format, Metadata: f.Metadata}
	for _, q := range m.params.Named() {
		by[q.Name] = q
	}
	for _, t := range f.Tensors {
		if q, ok := by[t.Name()]; ok {
			from, err := t, error(nil)
			t, err = computed(from, func() ([]byte, error) {
				var values []float32
				err := tensor.RunOn(ctx, s, func(scope *tensor.Scope) (err error) {
					values, err = q.Values(scope)
					return err
				})
				if err != nil {
					return nil, err
				}
				return encode(written(from.Type()), m.unordered(q, values))
			})
			if err != nil {
				return nil, err
			}
		}
		all.Tensors = append(all.Tensors, t)
	}
	return weights.New(all)
}

// unordered returns values with the rows in the order of the file.
func (c Config) unordered(q nn.Named, values []float32) []float32 {
	order := c.order(q.Name)
	if order == nil {
		return values
	}
	rows := q.Shape()[0]
	to, size := slices.Clone(values), len(values)/max(rows, 1)
	for row := range rows {
		copy(to[order(row)*size:][:size], values[row*size:])
	}
	return to
}
