package matmul

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Version is one of the kernels.
type Version int

// The versions. For large matrices, each is faster than the previous one.
const (
	Plain     Version = iota // one element per thread, from global memory
	Blocked                  // 64x64 elements per block, through shared memory
	Cores                    // 128x128 elements per block, on tensor cores
	Streaming                // Cores with asynchronous copies in three stages
	Broad                    // 128x256 elements per block, four stages
	Groups                   // 128x128 elements per block, with warp-group products of panels (compute capability 9.0, as all later versions)
	Roles                    // 128x256 elements per block; one warp group copies panels and two multiply
	Resident                 // Roles with one persistent block per multiprocessor, and bulk stores
	numVersions
)

var names = [numVersions]string{"plain", "blocked", "cores", "streaming", "broad", "groups", "roles"}

// String returns the version's name.
func (v Version) String() string { return names[v] }

// Versions returns all versions, the slowest first.
func Versions() []Version {
	return []Version{Plain, Blocked, Cores, Streaming, Broad, Groups, Roles}
}

// ErrShape is the error for a shape that does not match the operands, or that the version does not
// support.
var ErrShape = errors.New("shape does not fit")

// Operands are the matrices of a product, with M*K, K*N and M*N elements. C is overwritten.
type Operands struct{ A, B, C device.Slice[dtype.BF16] }

// Fits reports whether the version supports the shape: on tensor cores, the rows of A, B and C must
// have a multiple of eight elements.
func (v Version) Fits(s Shape) bool { return v < Cores || s.N%8 == 0 && s.K%8 == 0 }

// Best returns the version to use for a shape: the fastest that supports it and that a GPU of the
// given compute capability can run.
func Best(c device.Capability, s Shape) Version {
	switch {
	case !Broad.Fits(s):
		return Blocked
	case c == device.Capability{Major: 9}:
		return Roles
	case s.M < 1024 || s.N < 1024: // too few large tiles for all multiprocessors
		return Streaming
	}
	return Broad
}

// Launch computes C = A x B. It returns ErrShape if the shape does not fit, and the errors of the
// stream.
func Launch(s *device.Stream, v Version, shape Shape, x Operands) error {
	switch {
	case shape.M < 0 || shape.N < 0 || shape.K < 0 || x.A.Len() != shape.M*shape.K || x.B.Len() != shape.K*shape.N || x.C.Len() != shape.M*shape.N:
		return fmt.Errorf("matmul: %d, %d and %d elements for %+v: %w", x.A.Len(), x.B.Len(), x.C.Len(), shape, ErrShape)
	case !v.Fits(shape):
		return fmt.Errorf("matmul: %v: rows of %d and %d elements: %w", v, shape.K, shape.N, ErrShape)
	case shape.M == 0 || shape.N == 0:
		return nil
	}
	return launch(s, v, shape, x)
}

func launch(s *device.Stream, v Version, shape Shape, x Operands) error {
	if v >= Groups {
		return launchPanels(s, v, shape, x)
	}
	up := func(n, tile int) int { return (n + tile - 1) / tile }
	a, b, c := device.View[Row](x.A), device.View[Row](x.B), device.View[[2]dtype.BF16](x.C)
	switch v {
	case Plain:
		return Naive(s, device.Dim{X: up(shape.N, 16), Y: up(shape.M, 16)}, x.A, x.B, x.C, shape)
	case Blocked:
		return Tiled(s, device.Dim{X: up(shape.N, 64), Y: up(shape.M, 64)}, x.A, x.B, x.C, shape)
	case Cores:
		return Tensor(s, device.Dim{X: up(shape.M, 128), Y: up(shape.N, 128)}, a, b, c, shape)
	case Streaming:
		return Pipelined(s, device.Dim{X: up(shape.M, 128), Y: up(shape.N, 128)}, a, b, c, shape)
	}
	return Wide(s, device.Dim{X: up(shape.M, 128) * up(shape.N, 256)}, a, b, c, shape)
}

// launchPanels launches a version that multiplies panels.
func launchPanels(s *device.Stream, v Version, shape Shape, x Operands) error {
	if shape.K == 0 { // tensor maps cannot be empty
		return launch(s, Blocked, shape, x)
	}
	up := func(n, tile int) int { return (n + tile - 1) / tile }
	a := device.MapTensor[panel](x.A, device.Extent{Width: shape.K, Height: shape.M, Depth: 1})
	b := device.MapTensor[panel](x.B, device.Extent{Width: shape.N, Height: shape.K, Depth: 1})
	tiles := up(shape.M, 128) * up(shape.N, 256)
	if v == Groups {
		return Panelled(s, device.Dim{X: up(shape.M, 128), Y: up(shape.N, 128)}, a, b, device.View[[2]dtype.BF16](x.C), shape)
	}
	return Specialised(s, device.Dim{X: tiles}, a, b, device.View[[2]dtype.BF16](x.C), shape)
}

// panel is the unit of a bulk copy of operands.
type panel = gpu.Panel[dtype.BF16]

// Operands8 are the matrices of a product of 8-bit elements. A has M rows of K elements; B is
// transposed and has N rows of K elements; C has M rows of N elements.
type Operands8 struct {
	A, B device.Slice[dtype.F8E4M3]
	C    device.Slice[dtype.BF16]
}

// Launch8 computes C = A x B on GPUs of compute capability 9.0. K must be a multiple of 16 and N of
// 8, both positive; otherwise the error is ErrShape.
func Launch8(s *device.Stream, shape Shape, x Operands8) error {
	if shape.M < 0 || shape.N < 1 || shape.K < 1 || shape.N%8 != 0 || shape.K%16 != 0 ||
		x.A.Len() != shape.M*shape.K || x.B.Len() != shape.K*shape.N || x.C.Len() != shape.M*shape.N {
		return fmt.Errorf("matmul: %d, %d and %d 8-bit elements for %+v: %w", x.A.Len(), x.B.Len(), x.C.Len(), shape, ErrShape)
	}
	if shape.M == 0 {
		return nil
	}
	tiles := (shape.M + 127) / 128 * ((shape.N + 255) / 256)
	a := device.MapTensor[[2][1]gpu.Panel[dtype.F8E4M3]](x.A, device.Extent{Width: shape.K, Height: shape.M, Depth: 1})
	b := device.MapTensor[[4]gpu.Panel[dtype.F8E4M3]](x.B, device.Extent{Width: shape.K, Height: shape.N, Depth: 1})
	c := device.MapTensor[panel](x.C, device.Extent{Width: shape.N, Height: shape.M, Depth: 1})
	return Eight(s, device.Dim{X: min(tiles, s.Device().Info().Cores)}, a, b, c, shape)
}

// Operands32 are matrices of float32 elements.
type Operands32 struct{ A, B, C device.Slice[float32] }

// Launch32 computes C = A x B in float32. K and N must be multiples of 4, and A and B smaller than
// 32 GiB; otherwise the error is ErrShape.
func Launch32(s *device.Stream, shape Shape, x Operands32) error {
	if shape.M < 0 || shape.N < 0 || shape.K < 0 || shape.N%4 != 0 || shape.K%4 != 0 ||
		x.A.Len() != shape.M*shape.K || x.B.Len() != shape.K*shape.N || x.C.Len() != shape.M*shape.N {
		return fmt.Errorf("matmul: %d, %d and %d float32 for %+v: %w", x.A.Len(), x.B.Len(), x.C.Len(), shape, ErrShape)
	}
	if max((shape.M+singleTile)*shape.K, (shape.K+singleDepth)*shape.N)/4 > math.MaxInt32 {
		return fmt.Errorf("matmul: %+v is too large for 32-bit indices: %w", shape, ErrShape)
	}
	if shape.M == 0 || shape.N == 0 {
		return nil
	}
	up := func(n int) int { return (n + singleTile - 1) / singleTile }
	a, b, c := device.View[[4]float32](x.A), device.View[[4]float32](x.B), device.View[[4]float32](x.C)
	return Single(s, device.Dim{X: up(shape.N), Y: up(shape.M)}, a, b, c, shape)
}
