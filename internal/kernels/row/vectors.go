package row

import "github.com/gopherwarp/gopherwarp/dtype"

// Vector is what a thread of an elementwise kernel accesses at once: an element on the CPU, 16 bytes on a GPU. Functions are
// applied to each element, as a float32.
type Vector[V any] interface {
	Map(f func(x float32) float32) V
	Map2(y V, f func(x, y float32) float32) V
}

// Vectors of one element, for CPUs.
type (
	F32x1  float32
	BF16x1 dtype.BF16
	F16x1  dtype.F16
)

// Vectors of 16 bytes, for GPUs.
type (
	F32x4  [4]float32
	BF16x8 [8]dtype.BF16
	F16x8  [8]dtype.F16
)

// Map returns f(v).
func (v F32x1) Map(f func(x float32) float32) F32x1 { return F32x1(f(float32(v))) }

// Map2 returns f(v, y).
func (v F32x1) Map2(y F32x1, f func(x, y float32) float32) F32x1 {
	return F32x1(f(float32(v), float32(y)))
}

// Map returns f(v).
func (v BF16x1) Map(f func(x float32) float32) BF16x1 {
	return BF16x1(dtype.BF16From32(f(dtype.BF16(v).Float32())))
}

// Map2 returns f(v, y).
func (v BF16x1) Map2(y BF16x1, f func(x, y float32) float32) BF16x1 {
	return BF16x1(dtype.BF16From32(f(dtype.BF16(v).Float32(), dtype.BF16(y).Float32())))
}

// Map returns f(v).
func (v F16x1) Map(f func(x float32) float32) F16x1 {
	return F16x1(dtype.F16From32(f(dtype.F16(v).Float32())))
}

// Map2 returns f(v, y).
func (v F16x1) Map2(y F16x1, f func(x, y float32) float32) F16x1 {
	return F16x1(dtype.F16From32(f(dtype.F16(v).Float32(), dtype.F16(y).Float32())))
}

// Map returns f of each element.
func (v F32x4) Map(f func(x float32) float32) F32x4 {
	for k := range v {
		v[k] = f(v[k])
	}
	return v
}

// Map2 returns f of each pair of elements.
func (v F32x4) Map2(y F32x4, f func(x, y float32) float32) F32x4 {
	for k := range v {
		v[k] = f(v[k], y[k])
	}
	return v
}

// Map returns f of each element.
func (v BF16x8) Map(f func(x float32) float32) BF16x8 {
	for k := range v {
		v[k] = dtype.BF16From32(f(v[k].Float32()))
	}
	return v
}

// Map2 returns f of each pair of elements.
func (v BF16x8) Map2(y BF16x8, f func(x, y float32) float32) BF16x8 {
	for k := range v {
		v[k] = dtype.BF16From32(f(v[k].Float32(), y[k].Float32()))
	}
	return v
}

// Map returns f of each element.
func (v F16x8) Map(f func(x float32) float32) F16x8 {
	for k := range v {
		v[k] = dtype.F16From32(f(v[k].Float32()))
	}
	return v
}

// Map2 returns f of each pair of elements.
func (v F16x8) Map2(y F16x8, f func(x, y float32) float32) F16x8 {
	for k := range v {
		v[k] = dtype.F16From32(f(v[k].Float32(), y[k].Float32()))
	}
	return v
}
