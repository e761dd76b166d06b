package driver

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

// Grid is the size of a launch: the number of blocks (Blocks), and the number of threads in each
// block (Block). A launch whose Blocks.X is 0 does nothing. The other fields are for kernels that
// need them. If a device does not support such a field, the launch returns ErrGrid.
type Grid struct {
	Blocks Dim
	Block  Dim
	// Shared is the size of each block's dynamic shared memory in bytes.
	Shared int
	// Cluster is the number of blocks in a cluster along each axis, a divisor of Blocks. The zero
	// Dim means no clusters.
	Cluster Dim
	// Cooperative makes all blocks run at the same time, so that blocks may wait for each other.
	Cooperative bool
}

// checkGrid returns an error if a device with limits l cannot run the plan's grid.
func (p *Plan) checkGrid(l *Limits) error {
	g, blocks, block := &p.grid, &p.blocks, &p.block
	for i := range blocks {
		axis := "xyz"[i : i+1]
		if blocks[i] < 0 || blocks[i] > l.Grid[i] {
			return fmt.Errorf("%d blocks along %s, must be 0 to %d: %w", blocks[i], axis, l.Grid[i], ErrGrid)
		}
		if block[i] < 1 || block[i] > l.Block[i] {
			return fmt.Errorf("%d threads along %s in a block, must be 1 to %d: %w", block[i], axis, l.Block[i], ErrGrid)
		}
	}
	if n := block[0] * block[1] * block[2]; n > l.ThreadsPerBlock {
		return fmt.Errorf("%d threads in a block of %v, must be 1 to %d: %w", n, g.Block, l.ThreadsPerBlock, ErrGrid)
	}
	if g.Shared < 0 {
		return fmt.Errorf("%d bytes of dynamic shared memory: %w", g.Shared, ErrGrid)
	}
	if g.Cooperative && !l.Cooperative {
		return fmt.Errorf("a cooperative launch, which the device does not support: %w", ErrGrid)
	}
	if g.Cluster.X|g.Cluster.Y|g.Cluster.Z == 0 {
		return nil
	}
	return g.checkCluster(l)
}

// checkCluster returns an error if a device with limits l cannot run the clusters of g.
func (g *Grid) checkCluster(l *Limits) error {
	if n := g.Cluster.Count(); n < 1 || n > l.ClusterBlocks {
		return fmt.Errorf("%d blocks in a cluster of %v, must be 1 to %d: %w", n, g.Cluster, l.ClusterBlocks, ErrGrid)
	}
	blocks, cluster := g.Blocks.array(), g.Cluster.array()
	for i, axis := range [3]string{"x", "y", "z"} {
		if cluster[i] < 1 || blocks[i]%cluster[i] != 0 {
			return fmt.Errorf("%d blocks along %s in clusters of %d: %w", blocks[i], axis, cluster[i], ErrGrid)
		}
	}
	return nil
}
