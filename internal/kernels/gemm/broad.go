package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// broad computes products like few, with tiles of 128 rows and 192 columns. Rows of op(A) are the rows of products, 64 of them for each of two
// warp groups, and rows of op(B) are their columns: a product of 64 x 192 elements reads fewer bytes of shared memory for an element than one
// of 64 x 128. The two blocks of a cluster share the steps of a tile, at least two. Each stores the rows of the warp group whose number is the
// block's rank, and passes the sums of the other one through work, in the order of the threads' sums. Tiles with the same columns follow each
// other, which read the same weights at about the same time.
//
//gpu:kernel
//gpu:block 320
//gpu:cluster 2
//gpu:target sm_90a
//gpu:assume narrow,aligned
func broad[T gpu.Half, F rounding[T]](t gpu.Thread, a, b, c gpu.TensorMap[gpu.Panel[T]], work [][4]float32, j job) {
	t.StartNext()
	ring := gpu.Shared[[broadRing]gpu.Panel[T]](t)
	r := belt[T, broadRows, threePanels]{ring[:], gpu.Shared[signals](t)}
	if t.ThreadX() == 0 {
		r.init(t)
	}
	t.Sync()
	s := spanOf(t, uint32(j.steps()))
	rows := int((j.M + tileRows - 1) / tileRows)
	to := area{row: t.ClusterX() % rows * tileRows, col: t.ClusterX() / rows * broadColumns, second: gpu.PanelRows}
	multiplies, rank := t.WarpGroup() < workersOf[threePanels](), t.ClusterRank()&1
	mine, leads := multiplies && t.WarpGroup() == rank, t.ThreadX()%gpu.WarpGroupSize == 0
	var acc broadSums
	if multiplies {
		multiplyBroad(t, r, s, &acc)
		if leads {
			r.done().Arrive(t)
		}
		t.AwaitPrevious()
		if mine {
			r.done().Wait(t, 0) // no warp group reads the panels any more
		} else {
			publish(t, work, &acc)
		}
	} else {
		supply(t, r, supplies[T]{a, b, thin{job: j}}, task{s, to})
		t.SyncWarp()
		t.AwaitPrevious()
	}
	t.SyncCluster()
	if mine {
		addPeer(t, work, &acc)
		for i := range len(acc) / 8 {
			x := acc[8*i:][:8]
			gpu.StoreMatrix4(t, gpu.EightAt(&ring[i/4], t.Warp()%4*16+t.Lane()%16, i%4*16+t.Lane()/16*8), [4]gpu.Tile[T]{
				both[T, F](x[0], x[1]), both[T, F](x[2], x[3]), both[T, F](x[4], x[5]), both[T, F](x[6], x[7]),
			})
		}
		t.FenceAsync()
	}
	t.Sync()
	if mine && leads {
		for i := range groupsOf[threePanels]() {
			c.Store(t, gpu.Corner{X: to.col + i*gpu.PanelRows, Y: to.row + rank*gpu.PanelRows}, &ring[i])
		}
		t.CommitStores()
		t.WaitStores(0)
	}
}

type (
	broadSums = [96]float32 // of a thread
	broadRows = [64]float32 // the sums of a thread of few in a tile with as many rows
)

// multiplyBroad multiplies a warp group's rows of all steps.
func multiplyBroad[T gpu.Half](t gpu.Thread, r belt[T, broadRows, threePanels], s span, acc *broadSums) {
	leads := t.ThreadX()%gpu.WarpGroupSize == 0
	for n := uint32(0); ; {
		rows, columns := r.right(n)[t.WarpGroup()&1:][:1], r.lefts(n)
		r.full(n).Wait(t, r.phase(n))
		t.FenceProducts()
		for k := range 4 {
			gpu.MultiplyAsync(t, acc, gpu.AlongRows(rows, k), gpu.AlongRows(columns, k))
		}
		t.CommitProducts()
		gpu.AwaitProducts(t, acc, 1)
		if leads && n > 0 {
			r.empty(n - 1).Arrive(t)
		}
		if n++; n >= s.last-s.first { // at least one iteration, as in consume
			break
		}
	}
	gpu.AwaitProducts(t, acc, 0)
}

// halfTile is the number of elements of work of a block: four sums of a thread each.
const halfTile = tileRows / 2 * broadColumns / 4

// passed returns the elements of work for the sums of this thread's number among those of its warp group, in the block some ranks further.
func passed(t gpu.Thread, work [][4]float32, ranks int) [][4]float32 {
	at := (t.BlockX()+ranks)*halfTile + t.ThreadX()%gpu.WarpGroupSize
	return work[at:][:halfTile-gpu.WarpGroupSize+1]
}

// publish passes a thread's sums to the other block.
func publish(t gpu.Thread, work [][4]float32, acc *broadSums) {
	to := passed(t, work, 0)
	for i := range len(acc) / 4 {
		var x [4]float32
		for e := range 4 {
			x[e] = acc[4*i+e]
		}
		to[i*gpu.WarpGroupSize] = x
	}
}

// addPeer adds the sums of the other block.
func addPeer(t gpu.Thread, work [][4]float32, acc *broadSums) {
	from := passed(t, work, 1-2*(t.ClusterRank()&1))
	var x [len(broadSums{}) / 4][4]float32
	for i := range x {
		x[i] = from[i*gpu.WarpGroupSize]
	}
	for i := range x {
		for e := range 4 {
			acc[4*i+e] += x[i][e]
		}
	}
}
