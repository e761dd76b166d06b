package attentionback

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
)

// layout is a shape for kernels.
type layout struct {
	Heads, KeyHeads, Dim, Rows int32
	QueryStep, KeyStep         int32 // groups of eight elements from a row of DQ, and of DK and DV, to the next; for the forms Tiled and Grouped
	Causal                     bool
	Scale                      float32 // of the scores as exponents of 2
	Slope                      float32 // of the scores
}

func layoutOf(s prefill.Shape, rows int) layout {
	slope := 1 / math.Sqrt(float64(s.Dim))
	l := layout{
		Heads: int32(s.Heads), KeyHeads: int32(s.KeyHeads), Dim: int32(s.Dim), Rows: int32(rows),
		Causal: s.Causal, Scale: float32(slope * math.Log2E), Slope: float32(slope),
	}
	if l.QueryStep, l.KeyStep = int32(s.Heads*s.Dim/8), int32(s.KeyHeads*s.Dim/8); s.Apart > 0 {
		l.QueryStep, l.KeyStep = int32(s.Apart/8), int32(s.Apart/8)
	}
	return l
}

// queries returns the number of elements of Q.
func (l layout) queries() int { return int(l.Rows) * int(l.Heads) * int(l.Dim) }

// keys returns the number of elements of K.
func (l layout) keys() int { return int(l.Rows) * int(l.KeyHeads) * int(l.Dim) }

// lines returns the number of elements of the lines of queries.
func (l layout) lines() int { return 2 * int(l.Rows) * int(l.Heads) }

// memory is the numbers of elements of parts of a workspace.
type memory []int

func (m memory) total() (n int) {
	for _, part := range m {
		n += part
	}
	return n
}

// divide returns the parts of a workspace.
func (m memory) divide(work device.Slice[float32]) (parts []device.Slice[float32]) {
	for _, n := range m {
		parts = append(parts, work.Slice(0, n))
		work = work.Slice(n, work.Len())
	}
	return parts
}

// direct returns the workspace of the form Direct: lines and derivatives of keys and values for each head of the queries, and, for 16-bit
// elements, float32 copies of Q, DO, DQ, K and V.
func (l layout) direct(half bool) memory {
	m := memory{l.lines(), l.queries(), l.queries()}
	if half {
		m = append(m, l.queries(), l.queries(), l.queries(), l.keys(), l.keys())
	}
	return m
}

// job is the arguments of a launch.
type job[T Element] struct {
	Operands[T]
	layout
}

const threads = 256 // of blocks of kernels of elements

// prepare launches linesOf.
func (j job[T]) prepare(s *device.Stream, to device.Slice[float32]) (device.Slice[[2]float32], error) {
	lines := device.View[[2]float32](to)
	grid := device.Cover(lines.Len(), threads)
	switch x := any(j.Operands).(type) {
	case Operands[float32]:
		return lines, linesOf32(s, grid, x.O, x.DO, x.States, lines, uint32(j.Dim))
	case Operands[dtype.BF16]:
		return lines, linesOfBF16(s, grid, x.O, x.DO, x.States, lines, uint32(j.Dim))
	}
	panic("BUG: attentionback: no such element type")
}

// direct launches the form Direct.
func (j job[T]) direct(s *device.Stream) error {
	x, single := any(j.Operands).(Operands[float32])
	parts := j.layout.direct(!single).divide(j.Workspace)
	lines, err := j.prepare(s, parts[0])
	if err != nil {
		return err
	}
	if !single {
		half := any(j.Operands).(Operands[dtype.BF16])
		x = Operands[float32]{Q: parts[3], DO: parts[4], DQ: parts[5], K: parts[6], V: parts[7]}
		from, to := []device.Slice[dtype.BF16]{half.Q, half.DO, half.K, half.V}, []device.Slice[float32]{x.Q, x.DO, x.K, x.V}
		for i := range from {
			if err := Widen(s, device.Cover(from[i].Len(), threads), from[i], to[i]); err != nil {
				return err
			}
		}
	}
	for _, to := range []device.Slice[float32]{x.DQ, parts[1], parts[2]} {
		if err := device.Fill(s, to, 0); err != nil {
			return err
		}
	}
	if j.Spans.Len() > 0 {
		grid := device.Blocks{X: j.Spans.Len(), Y: int(j.Heads)}
		if err := Sequences(s, grid, x.Q, x.K, x.V, x.DO, lines, j.Spans, x.DQ, parts[1], parts[2], j.layout); err != nil {
			return err
		}
	}
	return j.finish(s, x.DQ, parts[1], parts[2])
}

// finish stores derivatives, given float32 ones for each head of the queries.
func (j job[T]) finish(s *device.Stream, dq, dk, dv device.Slice[float32]) error {
	group := uint32(j.Heads / j.KeyHeads)
	x, single := any(j.Operands).(Operands[float32])
	if single {
		grid := device.Cover(x.DK.Len(), threads)
		if err := AddHeads(s, grid, dk, x.DK, group, uint32(j.Dim)); err != nil {
			return err
		}
		return AddHeads(s, grid, dv, x.DV, group, uint32(j.Dim))
	}
	y := any(j.Operands).(Operands[dtype.BF16])
	from, to := []device.Slice[float32]{dq, dk, dv}, []device.Slice[dtype.BF16]{y.DQ, y.DK, y.DV}
	for i, heads := range []uint32{1, group, group} {
		if err := AddHeadsHalf(s, device.Cover(to[i].Len(), threads), from[i], to[i], heads, uint32(j.Dim)); err != nil {
			return err
		}
	}
	return nil
}
