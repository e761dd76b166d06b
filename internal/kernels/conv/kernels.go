package conv

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	threads = 256 // of a block that copies or finishes
	strip   = 64  // channels of a block that computes a place
)

// places is the geometry of a kernel: the sizes of X, in units of elements or of row.Words, and those of Y.
type places struct {
	Height, Width, Channels uint32
	OutHeight, OutWidth     uint32
	Kernel, Stride, Before  uint32
	Row                     uint32 // units from one row of a gathered matrix to the next, of which those after the last product are zeros
	Rows                    uint32
}

// gather stores the elements of X that each place of Y depends on in a row of y: a thread stores a unit.
//
//gpu:kernel
//gpu:block 256
func gather[T any](t gpu.Thread, x, y []T, p places) {
	i := t.GlobalX()
	if i >= len(y) {
		return
	}
	at, unit := uint32(i)/p.Row, uint32(i)%p.Row
	tap, c := unit/p.Channels, unit%p.Channels
	across, rest := at%p.OutWidth, at/p.OutWidth
	down, image := rest%p.OutHeight, rest/p.OutHeight
	row, column := down*p.Stride+tap/p.Kernel-p.Before, across*p.Stride+tap%p.Kernel-p.Before // those outside wrap around to large numbers
	var v T
	if row < p.Height && column < p.Width && tap < p.Kernel*p.Kernel {
		v = x[int(((image*p.Height+row)*p.Width+column)*p.Channels+c)]
	}
	y[i] = v
}

// gatherEight is gather for GPUs and any number of channels: a thread stores eight elements of a row.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func gatherEight[T any](t gpu.Thread, x []T, y [][8]T, p places) {
	i := t.GlobalX()
	if i >= len(y) {
		return
	}
	eights := p.Row / 8
	at, unit := uint32(i)/eights, uint32(i)%eights*8
	tap, c := unit/p.Channels, unit%p.Channels
	across, rest := at%p.OutWidth, at/p.OutWidth
	top, left := rest%p.OutHeight*p.Stride-p.Before, across*p.Stride-p.Before
	image := rest / p.OutHeight * p.Height
	down, right := tap/p.Kernel, tap%p.Kernel
	from := ((image+top+down)*p.Width+left+right)*p.Channels + c
	var v [8]T
	for k := range 8 {
		if top+down < p.Height && left+right < p.Width && down < p.Kernel {
			v[k] = x[int(from)]
		}
		from++
		if c++; c == p.Channels {
			c = 0
			if right++; right == p.Kernel {
				right = 0
				down++
				from += (p.Width - p.Kernel) * p.Channels
			}
		}
	}
	y[i] = v
}

// finish adds a residual, unless it is empty, to the elements of y, and applies an activation.
//
//gpu:kernel
//gpu:block 256
func finish[T any, F row.Format[T]](t gpu.Thread, y, residual []T, a Activation) {
	var f F
	i := t.GlobalX()
	if i >= len(y) {
		return
	}
	v := f.Float32(y[i])
	if i < len(residual) {
		v += f.Float32(residual[i])
	}
	y[i] = f.Of(activate(v, a))
}

// depthwise convolves each channel with a filter of its own. A block computes strip channels of a place.
//
//gpu:kernel
//gpu:block 64
func depthwise[T any, F row.Format[T]](t gpu.Thread, x, w, y, residual []T, bias []float32, p places, a Activation) {
	var f F
	n := int(p.Channels)
	c := t.BlockY()*strip + t.ThreadX()
	if c >= n {
		return
	}
	s := windowOf(uint32(t.BlockX()), p)
	v := float32(0)
	if c < len(bias) {
		v = bias[c]
	}
	for i := s.top; i < s.bottom; i++ {
		for j := s.left; j < s.right; j++ {
			from := (s.first + i*int(p.Width) + j) * n
			tap := ((i-s.row)*int(p.Kernel) + j - s.column) * n
			v = math32.FMA(f.Float32(x[from+c]), f.Float32(w[tap+c]), v)
		}
	}
	to := t.BlockX()*n + c
	if to < len(residual) {
		v += f.Float32(residual[to])
	}
	y[to] = f.Of(activate(v, a))
}

// pool stores the largest or the mean element of each channel under a window. A block computes strip channels of a place.
//
//gpu:kernel
//gpu:block 64
func pool[T any, F row.Format[T]](t gpu.Thread, x, y []T, p places, m Method) {
	var f F
	n := int(p.Channels)
	c := t.BlockY()*strip + t.ThreadX()
	if c >= n {
		return
	}
	s := windowOf(uint32(t.BlockX()), p)
	v := float32(0)
	if m == Max {
		v = math32.Inf(-1)
	}
	for i := s.top; i < s.bottom; i++ {
		for j := s.left; j < s.right; j++ {
			e := f.Float32(x[(s.first+i*int(p.Width)+j)*n+c])
			if m == Max {
				v = max(v, e)
			} else {
				v += e
			}
		}
	}
	if m == Mean {
		v /= float32((s.bottom - s.top) * (s.right - s.left))
	}
	y[t.BlockX()*n+c] = f.Of(v)
}

// poolEight is pool for GPUs: a thread stores eight neighbours, of which Channels counts the groups.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func poolEight[T any, F row.Format[T]](t gpu.Thread, x, y [][8]T, p places, m Method) {
	var f F
	to := t.GlobalX()
	if to >= len(y) {
		return
	}
	c := int(uint32(to) % p.Channels)
	s := windowOf(uint32(to)/p.Channels, p)
	start := float32(0)
	if m == Max {
		start = math32.Inf(-1)
	}
	v := [8]float32{start, start, start, start, start, start, start, start}
	for i := s.top; i < s.bottom; i++ {
		for j := s.left; j < s.right; j++ {
			e := x[(s.first+i*int(p.Width)+j)*int(p.Channels)+c]
			for k := range 8 {
				if m == Max {
					v[k] = max(v[k], f.Float32(e[k]))
				} else {
					v[k] += f.Float32(e[k])
				}
			}
		}
	}
	factor := float32(1)
	if m == Mean {
		factor = 1 / float32((s.bottom-s.top)*(s.right-s.left))
	}
	var e [8]T
	for k := range 8 {
		e[k] = f.Of(v[k] * factor)
	}
	y[to] = e
}

// window is the part of X under a filter: rows top to bottom-1 and columns left to right-1 of the image whose first place is first. The filter
// itself begins at row and column, which may be negative.
type window struct {
	first, row, column       int
	top, bottom, left, right int
}

// windowOf returns the window of a place of Y.
func windowOf(at uint32, p places) window {
	rest := at / p.OutWidth
	s := window{
		first: int(rest / p.OutHeight * p.Height * p.Width),
		row:   int(rest%p.OutHeight*p.Stride) - int(p.Before), column: int(at%p.OutWidth*p.Stride) - int(p.Before),
	}
	s.top, s.left = max(s.row, 0), max(s.column, 0)
	s.bottom, s.right = min(s.row+int(p.Kernel), int(p.Height)), min(s.column+int(p.Kernel), int(p.Width))
	return s
}

// activate returns an activation of x.
func activate(x float32, a Activation) float32 {
	switch a {
	case ReLU:
		x = max(x, 0)
	case ReLU6:
		x = min(max(x, 0), 6)
	case SiLU:
		x /= 1 + math32.Exp(-x)
	}
	return x
}
