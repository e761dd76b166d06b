package device

import "fmt"

// Dim counts blocks or threads in up to three dimensions. A Y or Z of 0 counts as 1.
type Dim struct{ X, Y, Z int }

// Count returns the number of blocks or threads.
func (d Dim) Count() int { a := d.array(); return a[0] * a[1] * a[2] }

func (d Dim) array() [3]int { return [3]int{d.X, max1(d.Y), max1(d.Z)} }

func max1(n int) int {
	if n == 0 {
		return 1
	}
	return n
}

// String returns the sizes as "16x16x1".
func (d Dim) String() string { a := d.array(); return fmt.Sprintf("%dx%dx%d", a[0], a[1], a[2]) }

// Grid says how many threads a launch starts: Blocks blocks of Block threads each. What
// follows these is for kernels that ask for it; a device that cannot do it returns ErrGrid.
type Grid struct {
	Blocks Dim
	Block  Dim
	// Shared is the bytes of dynamic shared memory of each block.
	Shared int
	// Cluster is how many blocks form a cluster along each axis, which divides Blocks; zero
	// is no cluster.
	Cluster Dim
	// Cooperative demands that all blocks run at once, so that they may wait for each other.
	Cooperative bool
	// Overlap allows the kernel to start before the stream's work before it is done. Such a
	// kernel waits for that itself, before it reads what the work writes. A device may wait
	// all the same.
	Overlap bool
}

// Blocks is the grid of a kernel whose block is fixed by //gpu:block.
type Blocks = Dim

// Cover returns the grid of blocks of block threads that covers n elements, one a thread.
func Cover(n, block int) Grid {
	return Grid{Blocks: Dim{X: ceilDiv(n, block)}, Block: Dim{X: block}}
}

// Cover2 returns the two-dimensional grid of blocks of the given size that covers
// width x height elements, one a thread.
func Cover2(width, height int, block Dim) Grid {
	size := block.array()
	blocks := Dim{X: ceilDiv(width, size[0]), Y: ceilDiv(height, size[1])}
	if blocks.Y == 0 {
		blocks = Dim{} // a Y of 0 would count as 1
	}
	return Grid{Blocks: blocks, Block: block}
}

// CoverBlocks returns the blocks of the given size that cover width x height elements, for
// a kernel with a fixed block.
func CoverBlocks(width, height int, block Dim) Blocks { return Cover2(width, height, block).Blocks }

// ceilDiv rounds up; a divisor that is not positive yields 0 blocks, which no launch accepts.
func ceilDiv(n, d int) int {
	if d <= 0 || n <= 0 {
		return 0
	}
	return (n-1)/d + 1
}

// checkGrid reports whether a device with limits l runs the plan's grid.
func (p *Plan) checkGrid(l *Limits) error {
	g, blocks, block := &p.grid, &p.blocks, &p.block
	for i := range blocks {
		axis := "xyz"[i : i+1]
		if blocks[i] < 1 || blocks[i] > l.Grid[i] {
			return fmt.Errorf("%d blocks along %s, allowed are 1 to %d: %w", blocks[i], axis, l.Grid[i], ErrGrid)
		}
		if block[i] < 1 || block[i] > l.Block[i] {
			return fmt.Errorf("%d threads along %s in a block, allowed are 1 to %d: %w", block[i], axis, l.Block[i], ErrGrid)
		}
	}
	if n := block[0] * block[1] * block[2]; n > l.ThreadsPerBlock {
		return fmt.Errorf("%d threads in a block of %v, allowed are 1 to %d: %w", n, g.Block, l.ThreadsPerBlock, ErrGrid)
	}
	if g.Shared < 0 {
		return fmt.Errorf("%d bytes of dynamic shared memory: %w", g.Shared, ErrGrid)
	}
	if g.Cooperative && !l.Cooperative {
		return fmt.Errorf("a cooperative launch, which the device has not: %w", ErrGrid)
	}
	if g.Cluster.X|g.Cluster.Y|g.Cluster.Z == 0 {
		return nil
	}
	return g.checkCluster(l)
}

// checkCluster reports whether a device with limits l has the clusters of g.
func (g *Grid) checkCluster(l *Limits) error {
	if n := g.Cluster.Count(); n < 1 || n > l.ClusterBlocks {
		return fmt.Errorf("%d blocks in a cluster of %v, allowed are 1 to %d: %w", n, g.Cluster, l.ClusterBlocks, ErrGrid)
	}
	blocks, cluster := g.Blocks.array(), g.Cluster.array()
	for i, axis := range [3]string{"x", "y", "z"} {
		if cluster[i] < 1 || blocks[i]%cluster[i] != 0 {
			return fmt.Errorf("%d blocks along %s in clusters of %d: %w", blocks[i], axis, cluster[i], ErrGrid)
		}
	}
	return nil
}
