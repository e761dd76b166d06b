package matvec

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

const (
	warpSize = gpu.WarpSize
	maxAhead = 16
	maxRows  = 4 // of a warp
	perQuad  = 8 // numbers of a quad
)

// quad is 16 bytes of memory: eight bfloat16 numbers, the first in the low half of the first integer.
type quad = [4]uint32

// reach is what a warp works on at once: count rows, so that each number of the vector is read from shared memory once for all of
// them, and ahead quads of each row that a lane has requested and not yet multiplied.
type reach interface {
	count() int
	ahead() int
}

// Each kernel has the reach that was fastest on an H200.
type (
	shallow struct{}
	deep    struct{}
)

func (shallow) count() int { return pair }
func (shallow) ahead() int { return 4 }
func (deep) count() int    { return pair }
func (deep) ahead() int    { return 8 }

// layout says which rows, of some quads, make a group, which a warp multiplies at once: each neighbouring rows, and as many that are
// far rows later. The groups follow each other, except that skip rows follow every far groups.
type layout struct{ groups, quads, each, far, skip int }

// row returns row i of a group.
func (l layout) row(group, i int) int {
	row := group*l.each + i%l.each + i/l.each*l.far
	if l.skip > 0 {
		row += int(uint32(group)/uint32(l.far)) * l.skip
	}
	return row
}

// A band is what a warp multiplies: every stride-th group of rows from group on. Some quads have been requested already.
type band[R reach] struct {
	w             []quad
	rows          layout
	tiles         int // of a row, of as many quads as the lanes have in flight
	group, stride int
	ahead         [maxAhead]quad // as far as R says; by row, then by place
}

// span returns the number of quads of a tile of a row.
func (b *band[R]) span() int { var r R; return r.ahead() * warpSize }

// begin requests the first tile of a warp's first group. It is called before the wait for the preceding kernel, which does not
// write weights.
func begin[R reach](t gpu.Thread, w []quad, rows layout) (b band[R]) {
	warps := t.BlockDimX() / warpSize
	b.w, b.rows, b.tiles = w, rows, rows.quads/b.span()
	b.group, b.stride = t.BlockX()*warps+t.Warp(), t.GridDimX()*warps
	if b.tiles > 0 && b.more() {
		b.request(t, 0)
	}
	return b
}

// more reports whether there is another group to multiply.
func (b *band[R]) more() bool { return b.group < b.rows.groups }

// request requests a tile of the group.
func (b *band[R]) request(t gpu.Thread, tile int) {
	var r R
	for i := range r.count() {
		from := b.w[b.rows.row(b.group, i)*b.rows.quads+tile*b.span():][:b.span()]
		for j := range r.ahead() {
			b.ahead[i*r.ahead()+j] = from[j*warpSize+t.Lane()]
		}
	}
}

// multiply returns the products of the group's rows and x, which all lanes get. It goes on to the next group, whose first tile
// it requests.
func (b *band[R]) multiply(t gpu.Thread, x []quad) (sums [maxRows]float32) {
	var r R
	var part [maxRows][2]float32
	group := b.group
	for tile := range b.tiles {
		b.consume(&part, x[tile*b.span():][:b.span()], t.Lane())
		next := tile + 1
		if next == b.tiles {
			next = 0
			b.group += b.stride
		}
		if b.more() {
			b.request(t, next)
		}
	}
	if b.tiles == 0 {
		b.group += b.stride
	}
	if b.tiles*b.span() < len(x) {
		b.finish(&part, x, group, t.Lane())
	}
	for i := range r.count() {
		sums[i] = total(t, part[i][0]+part[i][1])
	}
	return sums
}

// finish adds the products of what follows the last tile of a group's rows.
func (b *band[R]) finish(part *[maxRows][2]float32, x []quad, group, lane int) {
	var r R
	var row [maxRows][]quad
	for i := range r.count() {
		row[i] = b.w[b.rows.row(group, i)*len(x):][:len(x)]
	}
	for k := b.tiles*b.span() + lane; k < len(x); k += warpSize {
		v := widened(x[k])
		for i := range r.count() {
			part[i] = added(part[i], row[i][k], v)
		}
	}
}

// consume adds the products of the requested tile and x.
func (b *band[R]) consume(part *[maxRows][2]float32, x []quad, lane int) {
	var r R
	for j := range r.ahead() {
		v := widened(x[j*warpSize+lane])
		for i := range r.count() {
			part[i] = added(part[i], b.ahead[i*r.ahead()+j], v)
		}
	}
}

// total returns the sum over the lanes of a warp, all of which are present.
func total(t gpu.Thread, sum float32) float32 {
	for distance := warpSize / 2; distance > 0; distance /= 2 {
		sum += gpu.ShuffleXor(t, sum, distance)
	}
	return sum
}

// widened returns the numbers of a quad.
func widened(q quad) (v [perQuad]float32) {
	for i := range q {
		v[2*i], v[2*i+1] = low(q[i]), high(q[i])
	}
	return v
}

// added adds the products of a quad and v to the sums of the even and of the odd numbers.
func added(sums [2]float32, q quad, v [perQuad]float32) [2]float32 {
	for i := range q {
		sums[0] += low(q[i]) * v[2*i]
		sums[1] += high(q[i]) * v[2*i+1]
	}
	return sums
}

// low and high return the bfloat16 numbers in the halves of an integer.
func low(x uint32) float32  { return math.Float32frombits(x << 16) }
func high(x uint32) float32 { return math.Float32frombits(x &^ 0xffff) }

// packed returns two numbers as bfloat16.
func packed(low, high float32) uint32 {
	return uint32(dtype.BF16From32(low)) | uint32(dtype.BF16From32(high))<<16
}
