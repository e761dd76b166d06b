package llama

import (
	"context"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// Trained returns the tensors and metadata of the file f that a model was loaded from with LoadOptions.Train, with the present values of all
// parameters. Tensors keep the type float32, float16 or bfloat16, and quantized ones become float16. The values are read from the device, on the
// stream s, when those of the result are, and other tensors from f, which remains open.
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
