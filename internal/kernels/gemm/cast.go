package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// cast computes products like few, without bias, residual and activation. A tile has 64 rows, which are the rows of a warp group's products,
// and its columns are theirs: such a product reads fewer bytes of shared memory for an element than those of few. The two blocks of a
// cluster have tiles of the same columns. Each requests half of the weights of a step for both, so that fewer bytes leave the second-level
// cache. Two more warps copy, one for each operand.
//
// No thread of cast can fault, and so all of its blocks receive everything that they send each other.
//
//gpu:kernel
//gpu:block 192
//gpu:cluster 2
//gpu:target sm_90a
//gpu:assume narrow,aligned
func cast[T gpu.Half, F rounding[T], A castSums](t gpu.Thread, a, b, c gpu.TensorMap[gpu.Panel[T]], j job) {
	t.StartNext()
	ring := gpu.Shared[[castRing]gpu.Panel[T]](t)
	r := dock[T, A]{ring[:], gpu.Shared[locks](t)}
	if t.ThreadX() == 0 {
		r.init(t)
	}
	t.Sync()
	t.ArriveCluster()
	to := area{row: t.BlockX() * gpu.PanelRows & inside, col: t.BlockY() * castColumns[A]() & inside}
	multiplies := t.WarpGroup() == 0
	var acc A
	if multiplies {
		t.WaitCluster()
		multiplyCast(t, r, uint32(j.steps()), &acc)
		t.AwaitPrevious()
	} else {
		carry(t, r, supplies[T]{a, b, thin{job: j}}, to)
		t.SyncWarp()
	}
	t.Sync() // no warp reads the panels any more
	if multiplies {
		for i := range len(acc) / 8 {
			e := 8 * i
			gpu.StoreMatrix4(t, gpu.EightAt(&ring[i/4], t.Warp()%4*16+t.Lane()%16, i%4*16+t.Lane()/16*8), [4]gpu.Tile[T]{
				both[T, F](acc[e], acc[e+1]), both[T, F](acc[e+2], acc[e+3]), both[T, F](acc[e+4], acc[e+5]), both[T, F](acc[e+6], acc[e+7]),
			})
		}
		t.FenceAsync()
	}
	t.Sync()
	if t.ThreadX() == 0 {
		for i := range castColumns[A]() / gpu.PanelRows {
			c.Store(t, gpu.Corner{X: to.col + i*gpu.PanelRows, Y: to.row}, &ring[i])
		}
		t.CommitStores()
		t.WaitSources(0)
	}
}

// castSums is a thread's sums of 64 rows and twice as many columns as there are elements.
type castSums interface {
	[32]float32 | [64]float32 | [96]float32
}

const (
	castRing = 28        // panels of all stages of a block
	inside   = 1<<29 - 1 // a mask of positions in matrices, from which the compiler sees that they need no checks
)

// castColumns returns the number of columns of a tile.
func castColumns[A castSums]() int {
	var acc A
	return 2 * len(acc)
}

// castPanels returns the number of panels of a stage: those of op(B), and then one of op(A).
func castPanels[A castSums]() int { return castColumns[A]()/gpu.PanelRows + 1 }

// castStages returns the number of stages of a block.
func castStages[A castSums]() int { return castRing / castPanels[A]() }

// locks are the barriers of a block, as in signals. The multiplying warp groups of both blocks arrive at empty.
type locks struct {
	full, empty [castRing / 2]gpu.Barrier
	warm        gpu.Barrier
}

// dock is a ring of stages.
type dock[T gpu.Half, A castSums] struct {
	ring []gpu.Panel[T]
	bars *locks
}

// init prepares the barriers.
func (r dock[T, A]) init(t gpu.Thread) {
	for i := range castStages[A]() {
		r.full(uint32(i)).Init(t, 2)
		r.empty(uint32(i)).Init(t, 2)
	}
	r.warm().Init(t, 1)
}

func (r dock[T, A]) slot(n uint32) int { return int(n % uint32(castStages[A]())) }

// phase returns the number of times that a stage has been used before.
func (r dock[T, A]) phase(n uint32) int { return int(n / uint32(castStages[A]())) }

func (r dock[T, A]) full(n uint32) *gpu.Barrier  { return &r.bars.full[r.slot(n)] }
func (r dock[T, A]) empty(n uint32) *gpu.Barrier { return &r.bars.empty[r.slot(n)] }
func (r dock[T, A]) warm() *gpu.Barrier          { return &r.bars.warm }

func (r dock[T, A]) weights(n uint32) []gpu.Panel[T] {
	return r.ring[r.slot(n)*castPanels[A]():][:castPanels[A]()-1]
}

func (r dock[T, A]) rows(n uint32) []gpu.Panel[T] {
	return r.ring[r.slot(n)*castPanels[A]()+castPanels[A]()-1:][:1]
}

// carry starts all copies of a block, as supply does. It requests the weights of the first step before the other block is ready.
func carry[T gpu.Half, A castSums](t gpu.Thread, r dock[T, A], x supplies[T], to area) {
	weights, leads := t.Warp()%2 == 0, t.Lane() == 0
	if !weights && leads {
		r.warm().Expect(t, gpu.PanelBytes)
		x.a.Fetch(t, &r.rows(0)[0], gpu.Corner{Y: int(x.M) & inside}, r.warm())
	}
	if !weights || !x.Weights {
		t.AwaitPrevious()
	}
	if weights && leads {
		left := r.weights(0)
		r.full(0).Expect(t, len(left)*gpu.PanelBytes)
		for i := range left {
			x.b.Fetch(t, &left[i], gpu.Corner{Y: to.col&inside + i*gpu.PanelRows}, r.full(0))
		}
	}
	t.SyncWarp()
	t.WaitCluster()
	switch {
	case !leads:
	case weights:
		shareWeights(t, r, x, to.col)
	default:
		r.warm().Wait(t, 0)
		// A tile outside the matrix has the rows of the last one, as in requestRows.
		castRows(t, r, x, min(to.row, int(x.M-1)&^(gpu.PanelRows-1)))
	}
}

// shareWeights starts the copies of op(B) from the second step on: this block's part for both blocks.
func shareWeights[T gpu.Half, A castSums](t gpu.Thread, r dock[T, A], x supplies[T], col int) {
	rank := uint32(t.ClusterRank() & 1)
	for n := uint32(1); n < uint32(x.steps()); n++ {
		full, left := r.full(n), r.weights(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, len(left)*gpu.PanelBytes)
		for i := range left {
			if (n+uint32(i))%2 == rank {
				x.b.Multicast(t, &left[i], gpu.Corner{X: int(n) * depth & inside, Y: col&inside + i*gpu.PanelRows}, full)
			}
		}
	}
}

// castRows starts the copies of op(A).
func castRows[T gpu.Half, A castSums](t gpu.Thread, r dock[T, A], x supplies[T], row int) {
	for n := range uint32(x.steps()) {
		full := r.full(n)
		r.empty(n).Wait(t, r.phase(n)+1)
		full.Expect(t, gpu.PanelBytes)
		x.a.Fetch(t, &r.rows(n)[0], gpu.Corner{X: int(n) * depth & inside, Y: row & inside}, full)
	}
}

// multiplyCast multiplies all steps.
func multiplyCast[T gpu.Half, A castSums](t gpu.Thread, r dock[T, A], steps uint32, acc *A) {
	for n := uint32(0); ; {
		rows, weights := r.rows(n), r.weights(n)
		r.full(n).Wait(t, r.phase(n))
		t.FenceProducts()
		for k := range 4 {
			gpu.MultiplyAsync(t, acc, gpu.AlongRows(rows, k), gpu.AlongRows(weights, k))
		}
		t.CommitProducts()
		gpu.AwaitProducts(t, acc, 1)
		// An arrival that no copy waits for could come after the end of the other block.
		if t.ThreadX() < 2 && n > 0 && n-1+uint32(castStages[A]()) < steps {
			r.empty(n-1).ArriveAt(t, t.ThreadX())
		}
		if n++; n >= steps { // at least one iteration, as in consume
			break
		}
	}
	gpu.AwaitProducts(t, acc, 0)
}
