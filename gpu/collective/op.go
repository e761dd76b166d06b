package collective

import "github.com/gopherwarp/gopherwarp/gpu"

// Op combines two values. The operation must be associative, except for rounding, but need not be
// commutative: the values combined in a precede those combined in b.
type Op[T any] interface {
	Combine(a, b T) T
}

// Sum adds numbers.
type Sum[T gpu.Number] struct{}

// Combine returns a + b.
func (Sum[T]) Combine(a, b T) T { return a + b }

// Min selects the smallest number.
type Min[T gpu.Number] struct{}

// Combine returns the smaller of a and b, as defined by the built-in min.
func (Min[T]) Combine(a, b T) T { return min(a, b) }

// Max selects the largest number.
type Max[T gpu.Number] struct{}

// Combine returns the larger of a and b, as defined by the built-in max.
func (Max[T]) Combine(a, b T) T { return max(a, b) }

// threads returns the number of threads in the block.
func threads(t gpu.Thread) int { return t.BlockDimX() * t.BlockDimY() * t.BlockDimZ() }

// warps returns the number of warps in the block.
func warps(t gpu.Thread) int { return (threads(t) + gpu.WarpSize - 1) / gpu.WarpSize }

// index returns the linear index of the thread in the block.
func index(t gpu.Thread) int { return t.Warp()*gpu.WarpSize + t.Lane() }

// lanes returns the number of threads in the thread's warp.
func lanes(t gpu.Thread) int { return min(gpu.WarpSize, threads(t)-t.Warp()*gpu.WarpSize) }
