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

var names = [numVersions]string{"plain", "blocked", "cores", "streaming", "broad", "groups", "roles", "resident"}

// String returns the version's name.
func (v Version) String() string { return names[v] }

// Versions returns all versions, the slowest first.
func Versions() []Version {
	return []Version{Plain, Blocked, Cores, Streaming, Broad, Groups, Roles, Resident}
}

// ErrShape is the error for a shape that does not match the operands, or that the version does not
// support.
var ErrShape = errors.New("shape does not fit")

// OperandsOf are the matrices of a product, with M*K, K*N and M*N elements, or that many for each
// product of a batch. C is overwritten.
type OperandsOf[T gpu.Half] struct{ A, B, C device.Slice[T] }

// Operands are matrices of bfloat16 elements.
type Operands = OperandsOf[dtype.BF16]

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
		return Resident
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
	switch v {
	case Groups:
		return Panelled(s, device.Dim{X: up(shape.M, 128), Y: up(shape.N, 128)}, a, b, device.View[[2]dtype.BF16](x.C), shape)
	case Roles:
		return Specialised(s, device.Dim{X: tiles}, a, b, device.View[[2]dtype.BF16](x.C), shape)
	}
	return Fused(s, shape, x, Epilogue{})
}

// panel is the unit of a bulk copy of operands.
type panel = gpu.Panel[dtype.BF16]

// Activation is a function that is applied to each element of a result.
type Activation int

// The activations.
const (
	None Activation = iota
	ReLU            // max(x, 0)
	SiLU            // x times the logistic function of x
)

// Epilogue describes what a product computes after the multiplication, before it rounds.
type Epilogue struct {
	Bias       device.Slice[float32] // N elements, added to each row; may be empty
	Activation Activation
	Batch      int // number of products, stored one after the other in each operand; 0 means 1
}

// Fused computes C = activation(A x B + bias) with Resident, on GPUs of compute capability 9.0. It
// returns ErrShape if the shape does not fit, and the errors of the stream.
func Fused(s *device.Stream, shape Shape, x Operands, e Epilogue) error {
	p, err := resident(s, shape, x, e)
	if err != nil || p.blocks.X == 0 {
		return err
	}
	switch e.Activation {
	case ReLU:
		return Persistent[dtype.BF16, toBF16, rectified](s, p.blocks, p.a, p.b, p.c, p.bias, shape, p.batch)
	case SiLU:
		return Persistent[dtype.BF16, toBF16, sigmoidal](s, p.blocks, p.a, p.b, p.c, p.bias, shape, p.batch)
	}
	return Persistent[dtype.BF16, toBF16, asItIs](s, p.blocks, p.a, p.b, p.c, p.bias, shape, p.batch)
}

// F16 computes C = A x B + bias for float16 matrices, like Fused.
func F16(s *device.Stream, shape Shape, x OperandsOf[dtype.F16], e Epilogue) error {
	p, err := resident(s, shape, x, e)
	switch {
	case err != nil || p.blocks.X == 0:
		return err
	case e.Activation != None:
		return fmt.Errorf("matmul: activations are not supported for float16: %w", ErrShape)
	}
	return PersistentF16(s, p.blocks, p.a, p.b, p.c, p.bias, shape, p.batch)
}

// plan holds the arguments of persistent.
type plan[T gpu.Half] struct {
	blocks  device.Blocks
	a, b, c device.TensorMap[gpu.Panel[T]]
	bias    device.Slice[float32]
	batch   int
}

func resident[T gpu.Half](s *device.Stream, shape Shape, x OperandsOf[T], e Epilogue) (p plan[T], err error) {
	n := max(1, e.Batch)
	p.batch = n
	switch {
	case shape.M < 0 || shape.N < 1 || shape.K < 1 || shape.N%8 != 0 || shape.K%8 != 0,
		x.A.Len() != n*shape.M*shape.K || x.B.Len() != n*shape.K*shape.N || x.C.Len() != n*shape.M*shape.N,
		e.Bias.Len() != 0 && e.Bias.Len() != shape.N:
		return p, fmt.Errorf("matmul: %d products of %+v, %d, %d and %d elements, a bias of %d: %w", n, shape, x.A.Len(), x.B.Len(), x.C.Len(), e.Bias.Len(), ErrShape)
	case shape.M == 0:
		return p, nil
	}
	p.a = device.MapTensor[gpu.Panel[T]](x.A, device.Extent{Width: shape.K, Height: shape.M, Depth: n})
	p.b = device.MapTensor[gpu.Panel[T]](x.B, device.Extent{Width: shape.N, Height: shape.K, Depth: n})
	p.c = device.MapTensor[gpu.Panel[T]](x.C, device.Extent{Width: shape.N, Height: shape.M, Depth: n})
	tiles := (shape.M + 127) / 128 * ((shape.N + 255) / 256) * n
	p.blocks.X = min(tiles, s.Device().Info().Cores)
	if p.bias = e.Bias; e.Bias.Len() == 0 {
		p.bias = device.View[float32](x.C).Slice(0, 0) // no memory is read
	}
	return p, nil
}

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
