package train

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/optimizer"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// leastEight is the number of elements from which on the moments of a parameter have 8 bits, as in bitsandbytes.
const leastEight = 4096

// eight is the state of AdamW with 8-bit moments, beside the buffer of the optimizer, which begins with the scales and the moments of small
// parameters, and ends with the table.
type eight struct {
	chunks *device.Buffer[optimizer.Chunk]
	codes  *device.Buffer[uint8]
	scales int // elements of the buffer before the moments of small parameters
	used   int // of these elements, which are a multiple of extra
	exact  int // elements of the moments of small parameters
}

// open allocates the memory for the parameters of m.
func (e *eight) open(s *device.Stream, m *nn.Memory) (err error) {
	begins, sizes := m.Layout()
	list, n := optimizer.Layout(begins, sizes, leastEight)
	e.used, e.exact = 2*n, 2*optimizer.Block*(len(list)-n)
	e.scales = (e.used + extra - 1) / extra * extra
	if e.chunks, err = device.Upload(s, list); err != nil {
		return err
	}
	e.codes, err = device.Make[uint8](s, 2*optimizer.Block*n)
	return err
}

// close frees the memory.
func (e *eight) close() (err error) {
	if e.chunks != nil {
		err = e.chunks.Close()
	}
	if e.codes != nil {
		err = errors.Join(err, e.codes.Close())
	}
	*e = eight{}
	return err
}

// of returns the operands of the kernel, given the buffer of the optimizer.
func (e *eight) of(all device.Slice[float32]) optimizer.Eight {
	return optimizer.Eight{
		Chunks: e.chunks.All(), Codes: e.codes.All(), Scales: all.Slice(0, e.used), Exact: all.Slice(e.scales, e.scales+e.exact),
		Table: all.Slice(all.Len()-optimizer.TableLen, all.Len()),
	}
}

// stepEight takes a step with 8-bit moments.
func (o *AdamW) stepEight(s *tensor.Scope, m *nn.Memory, a optimizer.Adam) error {
	moments := o.eight.of(o.buffer.All())
	if m.Values.DType() == dtype.BFloat16 {
		return step(s, &o.state, m, func(x optimizer.Operands[dtype.BF16]) error { return optimizer.AdamW8(s.Stream(), a, x, moments) })
	}
	return step(s, &o.state, m, func(x optimizer.Operands[float32]) error { return optimizer.AdamW8(s.Stream(), a, x, moments) })
}
