package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// thin is the arguments of few. Columns and Second of the job are those of its tiles.
type thin struct {
	job
	LDC int32 // in groups of eight elements
}

// few computes products of few rows of op(A) with layout NT, at the speed of memory. A tile has twice as many rows as a thread has sums, and
// op(B) has 64 columns in it for each warp group: they are the rows of the warp group's products, whose columns are rows of op(A). Two
// more warps copy, one for each operand. The blocks of a cluster share the steps of a tile. At the end each of them adds up the sums of
// some rows, and passes its other sums to the other blocks through work.
//
// A block requests its first weights before the preceding kernel is done, and allows the next kernel to do so at once. If a
// multiprocessor has room for two blocks, memory is busy while one block ends.
//
//gpu:kernel
//gpu:target sm_90a
func few[T gpu.Half, C any, F rounding[C], A sumsOf](t gpu.Thread, a, b gpu.TensorMap[gpu.Panel[T]], work [][4]float32, c, residual [][eight]C, bias []float32, j thin) {
	t.StartNext()
	r := openBelt[T, A](t)
	if t.ThreadX() == 0 {
		for i := range stagesOf[A]() {
			r.full(uint32(i)).Init(t, 2)
			r.empty(uint32(i)).Init(t, fewGroups)
		}
		r.done().Init(t, fewGroups)
	}
	t.Sync()
	var acc A
	parts := t.ClusterSize()
	s := spanOf(t, uint32(j.steps()))
	to := area{row: t.BlockY() * 2 * len(acc), col: t.ClusterX() * int(j.Columns), second: int(j.Second)}
	sums := gpu.DynamicShared[float32](t)[:2*len(acc)*fewPitch]
	own := spanOf(t, uint32(len(acc)/4))
	if t.WarpGroup() == fewGroups {
		weights := t.Warp()%2 == 0
		if !weights || !j.Weights {
			t.AwaitPrevious()
		}
		if t.Lane() == 0 {
			if weights {
				requestWeights(t, r, b, task{s, to})
			} else {
				requestRows(t, r, a, task{s, to})
			}
		}
		t.SyncWarp()
	} else {
		multiplyFew(t, r, s, &acc)
		if t.ThreadX()%gpu.WarpGroupSize == 0 {
			r.done().Arrive(t)
		}
		r.done().Wait(t, 0) // no warp group reads the panels any more
		t.AwaitPrevious()
		for i := range len(acc) / 4 {
			for e := range 4 {
				sums[i*8*fewPitch+deposited(t, e)] = acc[4*i+e]
			}
		}
		if parts > 1 {
			publish(t, work, &acc, own)
		}
	}
	if parts > 1 {
		t.SyncCluster()
		if t.WarpGroup() < fewGroups {
			for i := own.first; i < own.last; i++ {
				collect(t, sums[i*8*fewPitch:], work[i*gpu.WarpGroupSize:], len(acc)/4)
			}
		}
	}
	t.AwaitPrevious()
	t.Sync()
	finishFew(t, eightsOf[C, F]{c, residual, bias}, j, owned{to, int(own.first) * 8, int(own.last) * 8})
}

const (
	mostStages = 6
	fewGroups  = 2                                            // warp groups that multiply
	fewColumns = fewGroups * 64                               // of op(B) in a tile
	fewThreads = fewGroups*gpu.WarpGroupSize + 2*gpu.WarpSize // of a block
	fewPitch   = fewColumns + 4                               // from one row of sums to the next: a warp's are in different banks
)

// signals are the barriers of a block: full and empty as in stage, and done for the end of all products.
type signals struct {
	full, empty [mostStages]gpu.Barrier
	done        gpu.Barrier
}

// span is a range of the steps of a tile, or of the groups of eight rows that it has.
type span struct{ first, last uint32 }

// spanOf returns the part of a block of a cluster.
func spanOf(t gpu.Thread, n uint32) span {
	part, parts := uint32(t.ClusterRank()), uint32(t.ClusterSize())
	return span{n * part / parts, n * (part + 1) / parts}
}

// sumsOf is a thread's sums, for twice as many rows of op(A) as there are elements.
type sumsOf interface{ [32]float32 | [64]float32 }

// stagesOf returns the number of stages of a block. If it has few rows, two blocks fit in a multiprocessor.
func stagesOf[A sumsOf]() int {
	var acc A
	if len(acc) == fewRows/2 {
		return 4
	}
	return 24 / panelsOf[A]()
}

// panelsOf returns the number of panels of a stage.
func panelsOf[A sumsOf]() int {
	var acc A
	return fewGroups + len(acc)/32
}

// belt is a ring of stages in dynamic shared memory: each has a panel of op(B) for each warp group, and those of op(A).
type belt[T gpu.Half, A sumsOf] struct {
	ring []gpu.Panel[T]
	bars *signals
}

func openBelt[T gpu.Half, A sumsOf](t gpu.Thread) belt[T, A] {
	return belt[T, A]{gpu.DynamicShared[gpu.Panel[T]](t)[:stagesOf[A]()*panelsOf[A]()], gpu.Shared[signals](t)}
}

func (b belt[T, A]) left(n uint32, group int) []gpu.Panel[T] {
	return b.ring[int(n%uint32(stagesOf[A]()))*panelsOf[A]()+group&(fewGroups-1):][:1]
}

func (b belt[T, A]) right(n uint32) []gpu.Panel[T] {
	return b.ring[int(n%uint32(stagesOf[A]()))*panelsOf[A]()+fewGroups:][:panelsOf[A]()-fewGroups]
}

func (b belt[T, A]) full(n uint32) *gpu.Barrier  { return &b.bars.full[n%uint32(stagesOf[A]())] }
func (b belt[T, A]) empty(n uint32) *gpu.Barrier { return &b.bars.empty[n%uint32(stagesOf[A]())] }
func (b belt[T, A]) done() *gpu.Barrier          { return &b.bars.done }

// phase returns the number of times that a stage has been used before.
func (b belt[T, A]) phase(n uint32) int { return int(n / uint32(stagesOf[A]())) }

// task is what a warp copies: some steps of the tile at a position.
type task struct {
	span
	area
}

// requestWeights starts the copies of op(B).
func requestWeights[T gpu.Half, A sumsOf](t gpu.Thread, r belt[T, A], b gpu.TensorMap[gpu.Panel[T]], o task) {
	for n := range o.last - o.first {
		full := r.full(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, fewGroups*gpu.PanelBytes)
		for i := range fewGroups {
			b.Fetch(t, &r.left(n, i)[0], gpu.Corner{X: int(o.first+n) * depth, Y: o.col + i*o.second}, full)
		}
	}
}

// requestRows starts the copies of op(A).
func requestRows[T gpu.Half, A sumsOf](t gpu.Thread, r belt[T, A], a gpu.TensorMap[gpu.Panel[T]], o task) {
	for n := range o.last - o.first {
		full, right := r.full(n), r.right(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, len(right)*gpu.PanelBytes)
		for i := range right {
			a.Fetch(t, &right[i], gpu.Corner{X: int(o.first+n) * depth, Y: o.row + i*gpu.PanelRows}, full)
		}
	}
}

// multiplyFew multiplies a warp group's part of all steps.
func multiplyFew[T gpu.Half, A sumsOf](t gpu.Thread, r belt[T, A], s span, acc *A) {
	group, leads := t.WarpGroup(), t.ThreadX()%gpu.WarpGroupSize == 0
	for n := uint32(0); ; {
		left, right := r.left(n, group), r.right(n)
		r.full(n).Wait(t, r.phase(n))
		t.FenceProducts()
		for k := range 4 {
			gpu.MultiplyAsync(t, acc, gpu.AlongRows(left, k), gpu.AlongRows(right, k))
		}
		t.CommitProducts()
		if len(*acc) == fewRows/2 { // memory is slower than the products
			gpu.AwaitProducts(t, acc, 0)
			if leads {
				r.empty(n).Arrive(t)
			}
		} else {
			gpu.AwaitProducts(t, acc, 1)
			if leads && n > 0 {
				r.empty(n - 1).Arrive(t)
			}
		}
		if n++; n >= s.last-s.first { // at least one iteration, as in consume
			break
		}
	}
	gpu.AwaitProducts(t, acc, 0)
}

// publish stores a thread's sums for the other blocks of the cluster, except those that the block itself stores.
func publish[A sumsOf](t gpu.Thread, work [][4]float32, acc *A, own span) {
	to := work[published(t, 0, len(*acc)/4):][:(len(*acc)/4-1)*gpu.WarpGroupSize+1]
	for i := range len(*acc) / 4 {
		if uint32(i)-own.first >= own.last-own.first {
			to[i*gpu.WarpGroupSize] = [4]float32{(*acc)[4*i], (*acc)[4*i+1], (*acc)[4*i+2], (*acc)[4*i+3]}
		}
	}
}

// published returns the index of a thread's first sum in work, in the block that is some ranks further in the cluster. Groups of eight rows
// of op(A) follow each other, and of a group, the sums of each thread are next to each other.
func published(t gpu.Thread, ranks, groups int) int {
	block := t.BlockY()*t.GridDimX() + t.BlockX() + ranks
	return (block*fewGroups+t.WarpGroup())*groups*gpu.WarpGroupSize + t.ThreadX()%gpu.WarpGroupSize
}

// collect adds what the other blocks of the cluster have published for a thread's sums of a group, in the order of the blocks.
func collect(t gpu.Thread, sums []float32, work [][4]float32, groups int) {
	var x [4]float32
	for p := range t.ClusterSize() {
		if p != t.ClusterRank() {
			y := work[published(t, p-t.ClusterRank(), groups)]
			for e := range 4 {
				x[e] += y[e]
			}
		}
	}
	for e := range 4 {
		sums[deposited(t, e)] += x[e]
	}
}

// deposited returns the index in shared memory of one of a thread's four sums for the first eight rows of op(A). The sums of a row are next
// to each other, and fewPitch elements from those of the next row.
func deposited(t gpu.Thread, e int) int {
	return t.Lane()%4*2*fewPitch + t.Warp()%8*16 + t.Lane()/4 + e%2*fewPitch + e/2*8
}

// owned is the rows of a tile that a block stores.
type owned struct {
	area
	first, last int
}

// finishFew stores the block's share of the tile: all of its columns, of some rows of op(A). A thread stores eight columns at a time.
func finishFew[C any, F rounding[C]](t gpu.Thread, o eightsOf[C, F], j thin, to owned) {
	sums, chunks := gpu.DynamicShared[[4]float32](t), int(j.Columns)/eight
	for i := t.ThreadX(); i < (min(to.last, int(j.M)-to.row)-to.first)*chunks; i += fewThreads {
		row, col := to.first+i/chunks, i%chunks*eight
		if to.col+col >= int(j.N) {
			continue
		}
		from := sums[(row*fewPitch+col)/4:][:fewColumns/4]
		x := o.biased(from, to.col+col)
		for e := range eight {
			x[e] = activate(x[e], j.Activation)
		}
		if j.Activation == SwiGLU {
			up := o.biased(from[fewColumns/8:], to.col+col+to.second)
			for e := range eight {
				x[e] *= up[e]
			}
		}
		o.store(x, (to.row+row)*int(j.LDC)+(to.col+col)/eight)
	}
}

// eight is the number of elements of a row of C that are stored at once.
const eight = 8

// eightsOf is operandsOf with eight elements of a row at once.
type eightsOf[C any, F rounding[C]] struct {
	c, residual [][eight]C
	bias        []float32
}

// biased returns sums with the elements of the bias for a column and those after it.
func (o eightsOf[C, F]) biased(from [][4]float32, col int) (x [eight]float32) {
	for e := range eight {
		x[e] = from[e/4][e%4]
	}
	if len(o.bias) > 0 {
		for e := range eight {
			x[e] += at(o.bias, col+e)
		}
	}
	return x
}

// store adds the residual and stores elements of C.
func (o eightsOf[C, F]) store(x [eight]float32, to int) {
	var f F
	if len(o.residual) > 0 {
		y := o.residual[to]
		for e := range eight {
			x[e] += f.wide(y[e])
		}
	}
	var z [eight]C
	for e := range eight {
		z[e] = f.round(x[e])
	}
	o.c[to] = z
}
