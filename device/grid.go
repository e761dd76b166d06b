package device

import "github.com/gopherwarp/gopherwarp/device/driver"

// Dim counts blocks or threads in up to three dimensions: its fields are X, Y and Z. A Y or Z of 0
// counts as 1.
type Dim = driver.Dim

// Grid is the size of a launch: the number of blocks (Blocks), and the number of threads in each block (Block), both of
// type Dim. A launch whose Blocks.X is 0 does nothing.
//
// Kernels with special needs use three other fields. If the device does not support such a field, the launch returns
// ErrGrid. Shared is the size of each block's dynamic shared memory in bytes. Cluster is the number of blocks in a
// cluster along each axis. Cooperative makes all blocks run at the same time, so that they may wait for each other.
type Grid = driver.Grid

// Blocks is the grid of a kernel whose block size is fixed by //gpu:block.
type Blocks = Dim

// Cover returns a grid that covers n elements, one for each thread. The argument block is the number of threads in
// each block. If n is 0, the launch does nothing. If n is negative, the launch returns an error.
func Cover(n, block int) Grid {
	return Grid{Blocks: Dim{X: ceilDiv(n, block)}, Block: Dim{X: block}}
}

// Cover2 returns the two-dimensional grid of blocks of the given size that covers width x height elements, one for
// each thread. If width or height is 0, the grid is empty.
func Cover2(width, height int, block Dim) Grid {
	x, y := ceilDiv(width, block.X), ceilDiv(height, max(1, block.Y))
	if y == 0 {
		x = min(0, x) // a Y of 0 counts as 1
	}
	return Grid{Blocks: Dim{X: x, Y: y}, Block: block}
}

// CoverBlocks returns the number of blocks of the given size that cover width x height elements, for a kernel
// with a fixed block size.
func CoverBlocks(width, height int, block Dim) Blocks { return Cover2(width, height, block).Blocks }

// ceilDiv rounds up. For a negative n, or a d that is not positive, the launch rejects the result.
func ceilDiv(n, d int) int {
	if d <= 0 || n <= 0 {
		return min(0, n)
	}
	return (n-1)/d + 1
}
