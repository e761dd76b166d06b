package prefill

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// job is the arguments of a launch.
type job[T row.Number] struct {
	Operands[T]
	layout Layout
}

// run launches the kernel of a form.
func (j job[T]) run(s *device.Stream, f Form) error {
	if j.Q.Len() == 0 || j.Spans.Len() == 0 {
		return nil
	}
	info := s.Device().Info()
	fits := j.tileable(info)
	switch {
	case f == Tiled && !fits:
		return fmt.Errorf("%w: form %v of %T on %v", ErrShape, f, j.Operands, info.Name)
	case f == Tiled, f == Auto && fits && row.FormFor(s) == row.Wide:
		return j.tiled(s)
	}
	return j.direct(s)
}

// tileable reports whether the form Tiled fits.
func (j job[T]) tileable(info device.Info) bool {
	if row.Elements[T]() != 8 || info.Kind == "cuda" && info.Capability.Major < 8 {
		return false
	}
	return j.Aligned() && j.layout.Apart%8 == 0
}

// Aligned reports whether the operands begin at multiples of the bytes that kernels for tensor cores access at once.
func (x Operands[T]) Aligned() bool {
	return x.Q.Aligned(16) && x.K.Aligned(16) && x.V.Aligned(16) && x.O.Aligned(4)
}

// blocks returns the grid of blocks of up to size queries: each span may have a part that is not full.
func (j job[T]) blocks(size int) device.Blocks {
	heads := int(j.layout.Heads)
	return device.Blocks{X: j.O.Len()/(heads*int(j.layout.Dim))/size + j.Spans.Len(), Y: heads}
}

//gpu:instance direct32 = direct[float32, row.F32]
//gpu:instance directBF16 = direct[dtype.BF16, row.BF16]
//gpu:instance directF16 = direct[dtype.F16, row.F16]

// direct launches the form Direct.
func (j job[T]) direct(s *device.Stream) error {
	g := j.blocks(row.Lanes)
	switch x := any(j.Operands).(type) {
	case Operands[float32]:
		return direct32(s, g, x.Q, x.K, x.V, x.O, x.States, x.Spans, x.Table, j.layout)
	case Operands[dtype.BF16]:
		return directBF16(s, g, x.Q, x.K, x.V, x.O, x.States, x.Spans, x.Table, j.layout)
	case Operands[dtype.F16]:
		return directF16(s, g, x.Q, x.K, x.V, x.O, x.States, x.Spans, x.Table, j.layout)
	}
	panic("BUG: prefill: no such element type")
}

//gpu:instance tiledBF16x32 = tiled[dtype.BF16, row.BF16, [5][8]dtype.BF16, [4][4]float32]
//gpu:instance tiledBF16x64 = tiled[dtype.BF16, row.BF16, [9][8]dtype.BF16, [8][4]float32]
//gpu:instance tiledBF16x96 = tiled[dtype.BF16, row.BF16, [13][8]dtype.BF16, [12][4]float32]
//gpu:instance tiledBF16x128 = tiled[dtype.BF16, row.BF16, [17][8]dtype.BF16, [16][4]float32]
//gpu:instance tiledF16x32 = tiled[dtype.F16, row.F16, [5][8]dtype.F16, [4][4]float32]
//gpu:instance tiledF16x64 = tiled[dtype.F16, row.F16, [9][8]dtype.F16, [8][4]float32]
//gpu:instance tiledF16x128 = tiled[dtype.F16, row.F16, [17][8]dtype.F16, [16][4]float32]

// tiled launches the form Tiled with the next larger dimension of an instance.
func (j job[T]) tiled(s *device.Stream) error {
	size := (j.layout.Dim - 1) / 32
	switch x := any(j.Operands).(type) {
	case Operands[dtype.BF16]:
		launch := [...]tiledLauncher[dtype.BF16]{tiledBF16x32, tiledBF16x64, tiledBF16x96, tiledBF16x128}[size]
		return launchTiled(s, launch, job[dtype.BF16]{x, j.layout})
	case Operands[dtype.F16]:
		launch := [...]tiledLauncher[dtype.F16]{tiledF16x32, tiledF16x64, tiledF16x128, tiledF16x128}[size]
		return launchTiled(s, launch, job[dtype.F16]{x, j.layout})
	}
	panic("BUG: prefill: no such element type")
}

// tiledLauncher launches an instance of tiled.
type tiledLauncher[T any] func(s *device.Stream, g device.Blocks, q, k, v device.Slice[[8]T], o device.Slice[[2]T], states device.Slice[State], spans device.Slice[Span], table device.Slice[int32], l Layout) error

func launchTiled[T row.Number](s *device.Stream, launch tiledLauncher[T], j job[T]) error {
	q, k, v := device.View[[8]T](j.Q), device.View[[8]T](j.K), device.View[[8]T](j.V)
	return launch(s, j.blocks(blockRows), q, k, v, device.View[[2]T](j.O), j.States, j.Spans, j.Table, j.layout)
}
