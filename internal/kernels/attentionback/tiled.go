package attentionback

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// tileable reports whether the form Tiled fits.
func (j job[T]) tileable(info device.Info) bool {
	if !warped[T](info) {
		return false
	}
	for _, x := range []device.Slice[T]{j.Q, j.K, j.V, j.DO, j.DQ, j.DK, j.DV} {
		if !x.Aligned(16) {
			return false
		}
	}
	return j.Workspace.Aligned(16) && j.Spans.Aligned(16)
}

// warped reports whether a device has warp products of an element type.
func warped[T Element](info device.Info) bool {
	return row.Elements[T]() == 8 && (info.Kind != "cuda" || info.Capability.Major >= 8)
}

//gpu:instance tiledKeys64 = tiledKeys[dtype.BF16, row.BF16, [9][8]dtype.BF16, [8][4]float32]
//gpu:instance tiledKeys128 = tiledKeys[dtype.BF16, row.BF16, [17][8]dtype.BF16, [16][4]float32]
//gpu:instance tiledQueries64 = tiledQueries[dtype.BF16, row.BF16, [9][8]dtype.BF16, [8][4]float32]
//gpu:instance tiledQueries128 = tiledQueries[dtype.BF16, row.BF16, [17][8]dtype.BF16, [16][4]float32]

// tiled launches the form Tiled, with the next larger dimension of an instance.
func (j job[T]) tiled(s *device.Stream) error {
	lines, err := j.prepare(s, j.Workspace.Slice(0, j.lines()))
	if err != nil {
		return err
	}
	x := any(j.Operands).(Operands[dtype.BF16])
	for _, to := range []device.Slice[dtype.BF16]{x.DQ, x.DK, x.DV} {
		if err := device.Fill(s, to, 0); err != nil {
			return err
		}
	}
	if x.Spans.Len() == 0 {
		return nil
	}
	keys, queries := tiledKeys64, tiledQueries64
	if j.Dim > 64 {
		keys, queries = tiledKeys128, tiledQueries128
	}
	eight, two := device.View[[8]dtype.BF16, dtype.BF16], device.View[[2]dtype.BF16, dtype.BF16]
	blocks := device.Blocks{X: int(j.Rows)/prefill.PageTokens + x.Spans.Len(), Y: int(j.KeyHeads)}
	if err := keys(s, blocks, eight(x.Q), eight(x.K), eight(x.V), eight(x.DO), lines, x.Spans, two(x.DK), two(x.DV), j.layout); err != nil {
		return err
	}
	blocks.Y = int(j.Heads)
	return queries(s, blocks, eight(x.Q), eight(x.K), eight(x.V), eight(x.DO), lines, x.Spans, two(x.DQ), j.layout)
}
