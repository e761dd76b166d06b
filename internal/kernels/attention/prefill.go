package attention

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Prefill computes prefill.Attend: on GPUs of compute capability 9.0, for bfloat16 vectors of 128 elements, as Forward does. There, a key
// that does not exist also makes NaNs of up to 127 queries before those that see it.
func Prefill[T row.Number](s *device.Stream, shape prefill.Shape, x prefill.Operands[T]) error {
	info := s.Device().Info()
	y, brain := any(x).(prefill.Operands[dtype.BF16])
	if info.Kind == "cpu" || info.Capability != (device.Capability{Major: 9}) || !brain || shape.Dim != Dim || shape.Apart != 0 || !y.Aligned() {
		return prefill.Attend(s, shape, x)
	}
	if err := prefill.Check(shape, y); err != nil || y.Q.Len() == 0 || y.Spans.Len() == 0 {
		return err
	}
	return launchSpans(s, shape, y)
}

// launchSpans launches attendSpans.
func launchSpans(s *device.Stream, shape prefill.Shape, x prefill.Operands[dtype.BF16]) error {
	queries, rows := x.Q.Len()/(shape.Heads*Dim), x.K.Len()/(shape.KeyHeads*Dim)
	keyed := device.Extent{Width: shape.KeyHeads * Dim, Height: rows, Depth: 1}
	if shape.Pages > 0 {
		keyed = device.Extent{Width: Dim, Height: PageTokens, Depth: shape.Pages * shape.KeyHeads}
	} else {
		x.Table = device.None[int32]()
	}
	if x.States.Len() == 0 {
		x.States = device.None[prefill.State]()
	}
	q := device.MapTensor[panel](x.Q, device.Extent{Width: shape.Heads * Dim, Height: queries, Depth: 1})
	k, v := device.MapTensor[panel](x.K, keyed), device.MapTensor[panel](x.V, keyed)
	blocks := device.Blocks{X: queries/tileRows + x.Spans.Len(), Y: shape.Heads}
	return AttendSpans(s, blocks, q, k, v, device.View[[2]dtype.BF16](x.O), x.States, x.Spans, x.Table, rows, shape.Layout())
}
