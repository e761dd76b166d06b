package attentionback

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
)

// Forwards reports whether Forward has a kernel.
func Forwards(d *device.Device, shape prefill.Shape) bool {
	return Apart[dtype.BF16](d, shape) && shape.Pages == 0
}

// Forward is prefill.Attend for what Backward computes derivatives of, on devices where Forwards reports true. It uses Q, K, V, Spans, O and
// States of the operands, and stores the last two, except in rows of no span. It launches one kernel.
func Forward(s *device.Stream, shape prefill.Shape, x Operands[dtype.BF16]) error {
	x.DO, x.DQ, x.DK, x.DV = x.O, x.Q, x.K, x.V
	x.Workspace = device.View[float32](x.States)
	if err := x.check(Grouped, shape); err != nil || x.O.Len() == 0 || x.Spans.Len() == 0 {
		return err
	}
	return forward(s, x, layoutOf(shape, x.O.Len()/(shape.Heads*shape.Dim)))
}
