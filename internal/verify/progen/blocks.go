package progen

import (
	"fmt"
	"strings"
)

// NewBlocks returns a kernel whose blocks or warps work as a unit: blocks of a cluster that wait for each other and access
// each other's shared memory, bulk copies that arrive at a barrier, copies of tiles through tensor maps, and products on
// tensor cores, of warps and of warp groups. The operands of products are integers so small that no order of additions
// changes a sum.
func NewBlocks(seed uint64, index int) Kernel {
	r := newRandom(seed, index)
	g := &blocks{r: r, bulk: r.oneIn(3), maps: r.oneIn(3), warps: r.oneIn(3), groups: r.oneIn(8)}
	k := Kernel{Name: fmt.Sprintf("k%d_", index), Values: r.Uint64(), Barriers: true}
	k.Blocks, k.Threads = [2]int{r.between(1, 3), 1}, [2]int{pick(r, 32, 64, 128), 1}
	if g.groups {
		k.Threads[0] = 128
	}
	g.threads = k.Threads[0]
	if r.oneIn(2) || !g.bulk && !g.maps && !g.warps && !g.groups {
		g.cluster = r.between(2, 4)
		k.Blocks[0] = g.cluster * r.between(1, 2)
	}
	g.elem = pick(r, bulkElements[:]...)
	g.signature(&k)
	g.declarations()
	g.pieces(0)
	g.line("\tout[own] = mix(mix(h, uint64(x)), uint64(y))")
	g.line("}")
	k.Source = g.text.String()
	return k
}

// blocks is a kernel of NewBlocks that is being written.
type blocks struct {
	r       random
	text    strings.Builder
	threads int  // of a block
	cluster int  // blocks of a cluster, or 0
	bulk    bool // there are bulk copies of slices
	maps    bool // there are bulk copies of tiles
	warps   bool // warps multiply matrices
	groups  bool // warp groups do
	elem    bulkElement
}

// A bulkElement is the type of the elements of bulk copies.
type bulkElement struct {
	name string
	size int // in bytes
}

var bulkElements = [...]bulkElement{{"int32", 4}, {"int64", 8}, {"uint16", 2}, {"int8", 1}}

// The sizes of what bulk copies transfer, in elements.
const (
	bulkRow  = 256  // of a block's shared memory, and of its part of the destination
	bulkFrom = 2048 // of the source
)

var (
	tileFrom = [3]int{20, 10, 3} // the extent of the source of tiles along x, y and z
	tileTo   = [2]int{20, 12}    // of the destination along x and y; along z it has a matrix for each block
)

func (g *blocks) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

// signature writes the directives and the parameters. Tensor maps come first.
func (g *blocks) signature(k *Kernel) {
	params, blocks := "t gpu.Thread, first int", k.Blocks[0]
	if g.maps {
		const tile = "gpu.TensorMap[[8][16]int32]"
		params += ", from, to " + tile
		k.Args = append(k.Args, Arg{Type: tile, Map: &Map{Slice: 1, Size: tileFrom, Box: [2]int{16, 8}}},
			Arg{Type: tile, Map: &Map{Slice: 2, Size: [3]int{tileTo[0], tileTo[1], blocks}, Box: [2]int{16, 8}}})
		params += ", tilesIn, tilesOut []int32"
		k.Args = append(k.Args, Arg{Type: "int32", Layout: "int32", Len: tileFrom[0] * tileFrom[1] * tileFrom[2], Aligned: true},
			Arg{Type: "int32", Layout: "int32", Len: tileTo[0] * tileTo[1] * blocks, Aligned: true})
	}
	if g.bulk {
		params += ", rows, moved []" + g.elem.name
		k.Args = append(k.Args, Arg{Type: g.elem.name, Layout: g.elem.name, Len: bulkFrom, Aligned: true},
			Arg{Type: g.elem.name, Layout: g.elem.name, Len: bulkRow * blocks, Aligned: true})
	}
	n := blocks * g.threads
	k.Args = append(k.Args, Arg{Type: "int32", Layout: "int32", Len: n}, Arg{Type: "uint64", Layout: "uint64", Len: n})
	g.line("//gpu:kernel\n//gpu:block %d", g.threads)
	switch {
	case g.cluster > 0 && g.r.oneIn(2):
		g.line("//gpu:cluster %d", g.cluster)
	default:
		k.Cluster = g.cluster
	}
	g.line("func %s(%s, in []int32, out []uint64) {", k.Name, params)
}

// declarations writes the variables of threads and those in shared memory.
func (g *blocks) declarations() {
	g.line("\town, lane := t.GlobalX()+first, t.ThreadX()")
	g.line("\tx, y, h := in[own], in[(own*5+3)%%len(in)], uint64(lane)")
	if g.cluster > 0 {
		g.line("\tmine, sums := gpu.Shared[[%d]int32](t), gpu.Shared[[3]int32](t)\n\t_ = mine", g.threads)
		g.line("\tif lane == 0 {\n\t\t*sums = [3]int32{}\n\t}")
		g.line("\tt.SyncCluster()")
	}
	if g.bulk {
		g.line("\trow := gpu.Shared[[%d]%s](t)\n\t_ = row", bulkRow, g.elem.name)
	}
	if g.maps {
		g.line("\ttile, back := gpu.Shared[[8][16]int32](t), gpu.Shared[[8][16]int32](t)\n\t_, _ = tile, back")
	}
	if g.bulk || g.maps {
		g.line("\tfull, phase := gpu.Shared[gpu.Barrier](t), 0\n\t_ = phase")
		if g.cluster > 0 {
			g.line("\tposted := gpu.Shared[[4]uint64](t)\n\t_ = posted")
		}
		g.line("\tif lane == 0 {\n\t\tfull.Init(t, 1)\n\t}")
		g.line("\tt.Sync()")
	}
	if g.warps {
		half := pick(g.r, "F16", "BF16")
		g.line("\twarp, line, half := lane/32, lane%%16, lane%%32/16")
		g.line("\tleft, right := gpu.Shared[[%[1]d][16][2][8]dtype.%[2]s](t), gpu.Shared[[%[1]d][16][8]dtype.%[2]s](t)", g.threads/32, half)
		g.line("\tround := func(v int32) dtype.%s { return dtype.%[1]sFrom32(float32(v&7 - 3)) }", half)
		g.line("\t_, _, _, _, _, _ = warp, line, half, left, right, round")
	}
	if g.groups {
		half := pick(g.r, "F16", "BF16")
		g.line("\tupper, lower := gpu.Shared[[1]gpu.Panel[dtype.%s]](t), gpu.Shared[[1]gpu.Panel[dtype.%[1]s]](t)", half)
		g.line("\tnear := func(v int) dtype.%s { return dtype.%[1]sFrom32(float32(v&7 - 3)) }", half)
		g.line("\t_, _, _ = upper, lower, near")
	}
}

// pieces writes what all threads of a cluster do together, in loops and conditions that are the same for all of them.
func (g *blocks) pieces(depth int) {
	for range g.r.between(2, 5-depth) {
		switch g.think(); {
		case depth < 2 && g.r.oneIn(5):
			g.line("\tfor range %s {", pick(g.r, "2", "3", "t.GridDimX()&3"))
			g.pieces(depth + 1)
			g.line("\t}")
		case depth < 2 && g.r.oneIn(5):
			g.line("\tif %s&1 == %d {", pick(g.r, g.unit(), "t.GridDimX()"), g.r.IntN(2))
			g.pieces(depth + 1)
			g.line("\t}")
		default:
			g.piece()
		}
	}
}

// unit returns the index of a cluster, or of a block where there are no clusters.
func (g *blocks) unit() string {
	if g.cluster > 0 {
		return "t.ClusterX()"
	}
	return "t.BlockX()"
}

// piece writes one of the kernel's ways to work together.
func (g *blocks) piece() {
	var ways []func()
	if g.cluster > 0 {
		ways = append(ways, g.exchange, g.send, g.collect)
	}
	if g.bulk {
		ways = append(ways, g.fetch, g.store)
	}
	if g.maps {
		ways = append(ways, g.fetchTile, g.storeTile)
	}
	if g.cluster > 0 && (g.bulk || g.maps) {
		ways = append(ways, g.post)
	}
	if g.warps {
		ways = append(ways, g.multiply)
	}
	if g.groups {
		ways = append(ways, g.multiplyPanels)
	}
	pick(g.r, ways...)()
}

// think writes what a thread does by itself.
func (g *blocks) think() {
	for range g.r.between(0, 2) {
		switch g.r.IntN(6) {
		case 0:
			g.line("\tif x&%d == %d {\n\t\tx += y\n\t} else {\n\t\ty -= int32(lane)\n\t}", g.r.between(1, 7), g.r.IntN(3))
		case 1:
			g.line("\tfor i := range int(x & 3) {\n\t\ty += int32(i) * x\n\t}")
		case 2:
			g.line("\th = mix(h, uint64(%s))", pick(g.r, "x", "y"))
		case 3:
			g.line("\tx, y = y, x^%d", g.r.IntN(100))
		case 4:
			g.line("\ty ^= x >> %d", g.r.IntN(9))
		default:
			g.line("\tx = x*%d + y", g.r.between(2, 9))
		}
	}
}

// syncCluster writes a barrier of the cluster, or its halves with something between them.
func (g *blocks) syncCluster() {
	if g.r.oneIn(2) {
		g.line("\tt.SyncCluster()")
		return
	}
	g.line("\tt.ArriveCluster()")
	g.think()
	g.line("\tt.WaitCluster()")
}

// peer returns the rank of a block of the cluster.
func (g *blocks) peer() string {
	return pick(g.r, "0", "t.ClusterSize()-1", g.next(), "int(uint32(x)%uint32(t.ClusterSize()))")
}

// next returns a rank that is another one for each block.
func (g *blocks) next() string {
	return fmt.Sprintf("(t.ClusterRank()+%d)%%t.ClusterSize()", g.r.IntN(4))
}

// exchange reads what the threads of other blocks have written to their shared memory.
func (g *blocks) exchange() {
	g.line("\tmine[lane] = x")
	g.syncCluster()
	for range g.r.between(1, 2) {
		switch g.r.IntN(4) {
		case 0:
			skip := g.r.IntN(g.threads)
			g.line("\ty ^= gpu.PeerSlice(t, mine[%d:], %s)[lane%%%d]", skip, g.peer(), g.threads-skip)
		case 1:
			g.line("\tfor rank := range t.ClusterSize() {\n\t\ty = y*3 + gpu.Peer(t, mine, rank)[lane]\n\t}")
		case 2:
			g.line("\tif y&%d != 0 {\n\t\ty -= *gpu.Peer(t, &mine[uint32(y)%%%d], %s)\n\t}", g.r.between(1, 7), g.threads, g.peer())
		default:
			g.line("\ty += gpu.Peer(t, mine, %s)[(lane+%d)%%%d]", g.peer(), g.r.IntN(40), g.threads)
		}
	}
	g.syncCluster()
}

// send writes to the shared memory of another block.
func (g *blocks) send() {
	g.line("\tgpu.Peer(t, mine, %s)[lane] = y", g.next())
	g.syncCluster()
	g.line("\tx -= mine[(lane+%d)%%%d]", g.r.IntN(40), g.threads)
	g.syncCluster()
}

// post sends a number to all blocks of the cluster. The barrier before it is that of the numbers sent before, too.
func (g *blocks) post() {
	g.line("\tif lane == 0 {\n\t\tfull.Expect(t, 8*t.ClusterSize())\n\t}")
	g.syncCluster()
	g.line("\tif lane < t.ClusterSize() {\n\t\tfull.Send(t, &posted[t.ClusterRank()], uint64(uint32(%s))*%d, lane)\n\t}",
		pick(g.r, "x", "y", "t.BlockX()"), g.r.between(1, 9))
	g.wait()
	g.line("\th = mix(h, posted[%s])\n\tt.Sync()", g.peer())
}

// collect changes a number of another block by atomic operations whose order does not matter.
func (g *blocks) collect() {
	i := g.r.IntN(3)
	name := [...]string{"Add", "Max", "Xor"}[i]
	g.line("\tgpu.Atomic%s(&gpu.Peer(t, sums, %s)[%d], x%s)", name, g.peer(), i, pick(g.r, "", ", gpu.ClusterScope", ", gpu.AcquireRelease, gpu.ClusterScope"))
	g.syncCluster()
	g.line("\ty += sums[%d]", i)
	g.line("\tt.SyncCluster()")
}

// stretch returns a part of a block's row: its first element and its length, both multiples of 16 bytes.
func (g *blocks) stretch() (from, n int) {
	unit := 16 / g.elem.size
	n = unit * g.r.between(1, bulkRow/unit)
	return unit * g.r.IntN((bulkRow-n)/unit+1), n
}

// wait lets all threads wait for the copies that one has started.
func (g *blocks) wait() { g.line("\tfull.Wait(t, phase)\n\tphase++") }

// fetch copies a part of a slice to shared memory.
func (g *blocks) fetch() {
	unit := 16 / g.elem.size
	from, n := g.stretch()
	g.line("\tif lane == 0 {")
	g.line("\t\tat := int(uint32(%s)%%%d) * %d", pick(g.r, "x", "y", "t.BlockX()"), (bulkFrom-bulkRow)/unit, unit)
	g.line("\t\tfull.Expect(t, %d)", n*g.elem.size)
	g.line("\t\tgpu.FetchBulk(t, row[%[1]d:%[2]d], rows[at:at+%[3]d], full)\n\t}", from, from+n, n)
	g.wait()
	g.line("\tx += int32(row[%d+(lane*%d+%d)%%%d])", from, g.r.between(1, 5), g.r.IntN(9), n)
	g.line("\tt.Sync()")
}

// store copies a part of shared memory to the block's part of a slice.
func (g *blocks) store() {
	from, n := g.stretch()
	g.line("\tfor i := lane; i < %d; i += %d {\n\t\trow[%d+i] = %s(x) + %[4]s(i)\n\t}", n, g.threads, from, g.elem.name)
	g.fence()
	g.line("\tif lane == 0 {\n\t\tat := t.BlockX()*%d + %d", bulkRow, from)
	g.line("\t\tgpu.StoreBulk(t, moved[at:at+%d], row[%d:%d])", n, from, from+n)
	g.committed()
}

// fence orders what threads have written to shared memory before a copy of it that one of them starts.
func (g *blocks) fence() { g.line("\tt.FenceAsync()\n\tt.Sync()") }

// committed ends what the thread does that has started a store.
func (g *blocks) committed() { g.line("\t\tt.CommitStores()\n\t\tt.WaitStores(0)\n\t}\n\tt.Sync()") }

// fetchTile copies a tile to shared memory, parts of which may be outside of the matrices.
func (g *blocks) fetchTile() {
	g.line("\tif lane == 0 {\n\t\tfull.Expect(t, 8*16*4)")
	g.line("\t\tfrom.Fetch(t, tile, gpu.Corner{X: int(uint32(x)%%6) * 4, Y: %s, Z: %d}, full)\n\t}", pick(g.r, "int(uint32(y) % 12)", "t.BlockX()", "0"), g.r.IntN(4))
	g.wait()
	g.line("\tx += tile[(lane+%d)&7][lane>>%d&15]", g.r.IntN(8), g.r.IntN(4))
	g.line("\tt.Sync()")
}

// storeTile copies a tile from shared memory to the block's matrix.
func (g *blocks) storeTile() {
	g.line("\tfor i := lane; i < 8*16; i += %d {\n\t\tback[i/16][i%%16] = %s + int32(i)\n\t}", g.threads, pick(g.r, "x", "y"))
	g.fence()
	g.line("\tif lane == 0 {\n\t\tto.Store(t, gpu.Corner{X: %d, Y: int(uint32(x) %% 12), Z: t.BlockX()}, back)", 4*g.r.IntN(6))
	g.committed()
}

// multiply has each warp multiply matrices of its own.
func (g *blocks) multiply() {
	g.line("\tfor i := range 8 {")
	g.line("\t\tleft[warp][line][half][i] = round(x + int32(i*%d))", g.r.between(1, 5))
	g.line("\t\tif i < 4 {\n\t\t\tright[warp][line][half*4+i] = round(y - int32(i))\n\t\t}\n\t}")
	g.line("\tt.SyncWarp()")
	g.line("\t{\n\t\tacc := [4]float32{float32(x & 15), 1: %d}", g.r.IntN(9))
	load := pick(g.r, "LoadMatrix", "LoadTransposed")
	g.line("\t\ta, b := gpu.%s4(t, &left[warp][line][half]), gpu.%s2(t, &right[warp][line])", load, pick(g.r, "LoadMatrix", "LoadTransposed"))
	for range g.r.between(1, 2) {
		g.line("\t\tacc = gpu.MMA(t, a, b, acc)")
	}
	if g.r.oneIn(3) {
		g.line("\t\tt.SyncWarp()\n\t\tgpu.StoreMatrix4(t, &left[warp][line][half], a)\n\t\tt.SyncWarp()")
		g.line("\t\tx += int32(left[warp][line][half][lane&7].Float32())")
	}
	g.line("\t\ty += int32(acc[%d]) - 3*int32(acc[%d])\n\t}", g.r.IntN(4), g.r.IntN(4))
	g.line("\tt.SyncWarp()")
}

// multiplyPanels has the warp group multiply panels.
func (g *blocks) multiplyPanels() {
	g.line("\tfor i := lane; i < 64*64; i += 128 {")
	g.line("\t\t*upper[0].At(i/64, i%%64), *lower[0].At(i/64, i%%64) = near(i*%d+int(x)), near(i/%d-int(y))\n\t}", g.r.between(1, 9), g.r.between(1, 9))
	g.fence()
	columns := pick(g.r, 8, 32, 64)
	g.line("\t{\n\t\tvar acc [%d]float32\n\t\tt.FenceProducts()", columns/2)
	for step := range g.r.between(1, 3) {
		name := "MultiplyAsync"
		if step == 0 && g.r.oneIn(2) {
			name = "ProductAsync"
		}
		along := func(panels string) string {
			return fmt.Sprintf("gpu.%s(%s[:], %d)", pick(g.r, "AlongRows", "DownColumns"), panels, g.r.IntN(4))
		}
		g.line("\t\tgpu.%s(t, &acc, %s, %s)", name, along("upper"), along("lower"))
	}
	g.line("\t\tt.CommitProducts()\n\t\tgpu.AwaitProducts(t, &acc, 0)")
	g.line("\t\tfor _, v := range acc {\n\t\t\th = mix(h, uint64(int32(v)))\n\t\t}\n\t\tx ^= int32(acc[%d])\n\t}", g.r.IntN(columns/2))
	g.line("\tt.Sync()")
}
