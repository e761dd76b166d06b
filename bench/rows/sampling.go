package main

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
)

// sampled is the thresholds of rows of logits.
type sampled struct {
	k      int32
	p      float32
	greedy bool
}

// newSampling prepares rows of the vocabulary of Llama 3.
func newSampling(how sampled) func(b *bench) work {
	return func(b *bench) work {
		const vocabulary = 128256
		shape := sampling.Shape{Rows: b.size.rows, Vocabulary: vocabulary}
		params, positions := make([]sampling.Params, shape.Rows), make([]int32, shape.Rows)
		for i := range params {
			params[i], positions[i] = sampling.Params{Seed: uint64(i), Temperature: 0.8, TopK: how.k, TopP: how.p}, int32(i)
			if how.greedy {
				params[i].Temperature = 0
			}
		}
		o := sampling.Operands{
			Logits: random[float32](b, shape.Rows*vocabulary), Params: upload(b, params), Positions: upload(b, positions),
			Tokens: upload(b, make([]int32, shape.Rows)),
		}
		if n := sampling.Workspace(b.s, shape); n > 0 {
			work, err := device.MakeDirty[int32](b.s, n)
			if b.add(err); err == nil {
				b.buffers = append(b.buffers, work)
				o.Work = work.All()
			}
		}
		return work{
			bytes:  traffic[float32](shape.Rows * vocabulary),
			launch: func() error { return sampling.Sample(b.s, shape, o) },
			check: func() error {
				tokens := part(b, o.Tokens, 0, shape.Rows)
				return eachRow(shape.Rows, func(at int) error {
					ref := sampling.Reference{Logits: part(b, o.Logits, at*vocabulary, (at+1)*vocabulary), Params: params[at], Position: positions[at]}
					if want := ref.Sample(); tokens[at] != want {
						return fmt.Errorf("row %d has token %d, want %d", at, tokens[at], want)
					}
					return nil
				})
			},
		}
	}
}
