package attentionback

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// tileable reports whether the form Tiled or Grouped fits.
func (j job[T]) tileable(f Form, info device.Info) bool {
	if !warped[T](info) || f == Grouped && !grouped(info, int(j.Dim)) {
		return false
	}
	for _, x := range []device.Slice[T]{j.Q, j.K, j.V, j.O, j.DO, j.DQ, j.DK, j.DV} {
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

// grouped reports whether a device has products of warp groups, and kernels for rows of the given size.
func grouped(info device.Info, dim int) bool {
	return info.Kind != "cpu" && info.Capability == (device.Capability{Major: 9}) && (dim == 64 || dim == 128)
}

//gpu:instance tiledKeys64 = tiledKeys[dtype.BF16, row.BF16, [9][8]dtype.BF16, [8][4]float32]
//gpu:instance tiledKeys128 = tiledKeys[dtype.BF16, row.BF16, [17][8]dtype.BF16, [16][4]float32]
//gpu:instance tiledQueries64 = tiledQueries[dtype.BF16, row.BF16, [9][8]dtype.BF16, [8][4]float32]
//gpu:instance tiledQueries128 = tiledQueries[dtype.BF16, row.BF16, [17][8]dtype.BF16, [16][4]float32]

// tiled launches the form Tiled, with the next larger dimension of an instance, or the form Grouped.
func (j job[T]) tiled(s *device.Stream, f Form) error {
	x := any(j.Operands).(Operands[dtype.BF16])
	eight, two := device.View[[8]dtype.BF16, dtype.BF16], device.View[[2]dtype.BF16, dtype.BF16]
	lines := device.View[[2]float32](j.Workspace.Slice(0, j.lines()))
	if err := PrepareTiled(s, device.Blocks{X: (lines.Len()*team + threads - 1) / threads}, eight(x.O), eight(x.DO), x.States, x.Spans, lines, eight(x.DQ), eight(x.DK), eight(x.DV), j.layout); err != nil {
		return err
	}
	if x.Spans.Len() == 0 {
		return nil
	}
	if f == Grouped {
		return launchGrouped(s, x, j.layout, lines)
	}
	keys, queries := tiledKeys64, tiledQueries64
	if j.Dim > 64 {
		keys, queries = tiledKeys128, tiledQueries128
	}
	blocks := device.Blocks{X: int(j.Rows)/tileRows + x.Spans.Len(), Y: int(j.KeyHeads)}
	if err := keys(s, blocks, eight(x.Q), eight(x.K), eight(x.V), eight(x.DO), lines, x.Spans, two(x.DK), two(x.DV), j.layout); err != nil {
		return err
	}
	blocks.Y = int(j.Heads)
	return queries(s, blocks, eight(x.Q), eight(x.K), eight(x.V), eight(x.DO), lines, x.Spans, two(x.DQ), j.layout)
}

// extents returns the extents of Q and of K.
func (l layout) extents() (wide, narrow device.Extent) {
	wide = device.Extent{Width: int(l.Heads * l.Dim), Height: int(l.Rows), Depth: 1, Row: 8 * int(l.QueryStep)}
	return wide, device.Extent{Width: int(l.KeyHeads * l.Dim), Height: int(l.Rows), Depth: 1, Row: 8 * int(l.KeyStep)}
}

// forward launches groupedForward.
func forward(s *device.Stream, x Operands[dtype.BF16], l layout) error {
	launch := groupedForward64
	if l.Dim == 128 {
		launch = groupedForward128
	}
	wide, narrow := l.extents()
	blocks := device.Blocks{X: (int(l.Rows)/blockRows + x.Spans.Len()) * int(l.Heads)}
	return launch(s, blocks, device.MapTensor[panel](x.Q, wide), device.MapTensor[tall](x.K, narrow), device.MapTensor[tall](x.V, narrow),
		x.Spans, device.View[[8]dtype.BF16](x.O), x.States, l)
}

// launchGrouped launches the form Grouped.
func launchGrouped(s *device.Stream, x Operands[dtype.BF16], l layout, lines device.Slice[[2]float32]) error {
	keys, queries := groupedKeys64, groupedQueries64
	if l.Dim == 128 {
		keys, queries = groupedKeys128, groupedQueries128
	}
	whole := device.Extent{Width: int(l.Heads * l.Dim), Height: int(l.Rows), Depth: 1}
	wide, narrow := l.extents()
	q, do := device.MapTensor[panel](x.Q, wide), device.MapTensor[panel](x.DO, whole)
	eight := device.View[[8]dtype.BF16, dtype.BF16]
	parts := int(l.Rows)/blockRows + x.Spans.Len()
	if err := keys(s, device.Blocks{X: parts * int(l.KeyHeads)}, q, device.MapTensor[panel](x.K, narrow), device.MapTensor[panel](x.V, narrow), do, lines, x.Spans, eight(x.DK), eight(x.DV), l); err != nil {
		return err
	}
	return queries(s, device.Blocks{X: parts * int(l.Heads)}, q, do, device.MapTensor[tall](x.K, narrow), device.MapTensor[tall](x.V, narrow), lines, x.Spans, eight(x.DQ), l)
}
