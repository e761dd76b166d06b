package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	tileRows = 128 // of C that a block computes at a time
	tileCols = 256
	ring     = 3  // stages: the rest of shared memory holds results
	depth    = 64 // products of each sum that a stage holds
)

// stage holds the operands of a step: the panels of op(A) by warp group, and those of op(B).
type stage[T gpu.Half] struct {
	left  [2][1]gpu.Panel[T]
	right [4]gpu.Panel[T]
	// full ends a phase when the copies to the stage are complete, and empty when the warp groups have used the stage.
	full, empty gpu.Barrier
	_           [1008]byte // panels start at multiples of 1024
}

// pipe is a ring of stages.
type pipe[T gpu.Half] [ring]stage[T]

// init prepares the barriers of a ring that two warp groups read.
func (p *pipe[T]) init(t gpu.Thread) {
	for i := range p {
		p[i].full.Init(t, 1)
		p[i].empty.Init(t, 2)
	}
}

// sources are the operands in memory.
type sources[T gpu.Half] struct{ a, b gpu.TensorMap[gpu.Panel[T]] }

// area is the position of a step: the first row and column of C, and the first product of each sum. The right half of the columns begins
// second columns after the first one.
type area struct {
	turn
	row, col, depth, second int
}

// layout is a Layout on Hopper's tensor cores.
type layout[T gpu.Half] interface {
	// fetch starts the copies of a step.
	fetch(t gpu.Thread, x sources[T], to *stage[T], at area)
	// multiply starts the products of a warp group.
	multiply(t gpu.Thread, acc *[128]float32, s *stage[T], half int)
}

type (
	layoutNT[T gpu.Half] struct{}
	layoutNN[T gpu.Half] struct{}
	layoutTN[T gpu.Half] struct{}
)

func (layoutNT[T]) fetch(t gpu.Thread, x sources[T], to *stage[T], at area) {
	for i := range 2 {
		x.a.Fetch(t, &to.left[i][0], gpu.Corner{X: at.depth, Y: at.row + i*64}, &to.full)
	}
	for i := range 4 {
		x.b.Fetch(t, &to.right[i], gpu.Corner{X: at.depth, Y: at.col + i%2*64 + i/2*at.second}, &to.full)
	}
}

func (layoutNT[T]) multiply(t gpu.Thread, acc *[128]float32, s *stage[T], half int) {
	for i := range 4 {
		gpu.MultiplyAsync(t, acc, gpu.AlongRows(s.left[half][:], i), gpu.AlongRows(s.right[:], i))
	}
}

func (layoutNN[T]) fetch(t gpu.Thread, x sources[T], to *stage[T], at area) {
	for i := range 2 {
		x.a.Fetch(t, &to.left[i][0], gpu.Corner{X: at.depth, Y: at.row + i*64}, &to.full)
	}
	fetchDown(t, x.b, to, at)
}

func (layoutNN[T]) multiply(t gpu.Thread, acc *[128]float32, s *stage[T], half int) {
	for i := range 4 {
		gpu.MultiplyAsync(t, acc, gpu.AlongRows(s.left[half][:], i), gpu.DownColumns(s.right[:], i))
	}
}

func (layoutTN[T]) fetch(t gpu.Thread, x sources[T], to *stage[T], at area) {
	for i := range 2 {
		x.a.Fetch(t, &to.left[i][0], gpu.Corner{X: at.row + i*64, Y: at.depth}, &to.full)
	}
	fetchDown(t, x.b, to, at)
}

func (layoutTN[T]) multiply(t gpu.Thread, acc *[128]float32, s *stage[T], half int) {
	for i := range 4 {
		gpu.MultiplyAsync(t, acc, gpu.DownColumns(s.left[half][:], i), gpu.DownColumns(s.right[:], i))
	}
}

// turn is the steps [from, to) of a tile, at least one, and the number of stages that have been used before.
type turn struct {
	from, to int32
	n        uint
}

// produce copies the steps of a tile to the ring, and returns the new number of stages.
func produce[T gpu.Half, L layout[T]](t gpu.Thread, p *pipe[T], x sources[T], at area) uint {
	var l L
	n := at.n
	for k := at.from; k < at.to; k++ {
		s := &p[n%ring]
		s.empty.Wait(t, int(n/ring+1))
		at.depth = int(k * depth)
		s.full.Expect(t, 6*gpu.PanelBytes)
		l.fetch(t, x, s, at)
		n++
	}
	return n
}

// consume multiplies a warp group's rows of a tile, and returns the new number of stages.
func consume[T gpu.Half, L layout[T]](t gpu.Thread, p *pipe[T], acc *[128]float32, at turn) uint {
	var l L
	n, half := at.n, (t.WarpGroup()-1)&1
	leads := t.ThreadX()%128 == 0
	for k := at.from; ; {
		s := &p[n%ring]
		s.full.Wait(t, int(n/ring))
		t.FenceProducts()
		l.multiply(t, acc, s, half)
		t.CommitProducts()
		gpu.AwaitProducts(t, acc, 1)
		if k > at.from && leads {
			p[(n-1)%ring].empty.Arrive(t)
		}
		n++
		if k++; k >= at.to { // at least one iteration, so that ptxas sees that all products belong to this tile
			break
		}
	}
	gpu.AwaitProducts(t, acc, 0)
	if leads {
		p[(n-1)%ring].empty.Arrive(t)
	}
	return n
}

// fetchDown starts the copies of a matrix B that is not transposed.
func fetchDown[T gpu.Half](t gpu.Thread, b gpu.TensorMap[gpu.Panel[T]], to *stage[T], at area) {
	for i := range 4 {
		b.Fetch(t, &to.right[i], gpu.Corner{X: at.col + i%2*64 + i/2*at.second, Y: at.depth}, &to.full)
	}
}
