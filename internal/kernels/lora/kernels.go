package lora

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	groupRows = 8   // of a group
	strip     = 4   // rows of A of a block of shrinkWide
	columns   = 4   // of Y for each thread of expandWide
	threads   = 256 // of the blocks on a GPU
	warps     = threads / gpu.WarpSize
)

// Group is rows of one adapter. Numbers of rows outside the matrix, such as -1, stand for none, and so does such a number of an adapter.
type Group struct {
	Adapter int32
	Rows    [groupRows]int32
}

// sizes are what shrinkWide takes beside slices.
type sizes struct {
	Rows, Adapters uint32
	Columns        uint32 // of X, in words
	Stack          uint32 // rows of A: the rank, for each part
}

// shrinkWide computes strip columns of H for a group with each block. Its threads divide the columns of X.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func shrinkWide[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, a []row.Words, groups []Group, h []float32, c sizes) {
	parts := gpu.Shared[[warps][strip * groupRows]float32](t)
	var f F
	g := groups[t.BlockX()]
	if uint32(g.Adapter) >= c.Adapters {
		return
	}
	n := int(c.Columns)
	from := (int(g.Adapter)*int(c.Stack) + t.BlockY()*strip) * n
	var sums [strip * groupRows]float32
	for k := t.ThreadX(); k < n; k += threads {
		var v [strip]A
		for r := range strip {
			v[r] = f.Unpack(a[from+r*n+k])
		}
		for i := range groupRows {
			if at := uint32(g.Rows[i]); at < c.Rows {
				w := f.Unpack(x[int(at)*n+k])
				for r := range strip {
					for j := range len(w) {
						sums[r*groupRows+i] = math32.FMA(v[r][j], w[j], sums[r*groupRows+i])
					}
				}
			}
		}
	}
	for i := range sums {
		sum := gpu.WarpReduceAdd(t, sums[i])
		if t.Lane() == 0 {
			parts[t.Warp()][i] = sum
		}
	}
	t.Sync()
	if me := t.ThreadX(); me < strip*groupRows {
		sum := float32(0)
		for w := range warps {
			sum += parts[w][me]
		}
		if at := uint32(groups[t.BlockX()].Rows[me%groupRows]); at < c.Rows {
			h[int(at)*int(c.Stack)+t.BlockY()*strip+me/groupRows] = sum
		}
	}
}

// places are what expandWide and plain take beside slices.
type places struct {
	Rows, Adapters uint32
	Stack, Rank    uint32 // columns of H and of B
	Out, Width     uint32 // results of all parts, and columns of Y
	Add            uint32
	Segments       [3]segment
}

// segment is columns of Y with results of one part. Unused ones have the last number of a tile.
type segment struct {
	Tile      uint32 // the first number of a block for it
	First, To uint32 // the first result, or its first element among those of an adapter, and its column of Y
	Count     uint32 // columns
	Stride    uint32 // from an element of a transposed matrix to the one of the next row
	Shift     uint32 // the first column of H
}

// segment returns the segment of a block.
func (c *places) segment(tile uint32) segment {
	s := c.Segments[0]
	if tile >= c.Segments[1].Tile {
		s = c.Segments[1]
	}
	if tile >= c.Segments[2].Tile {
		s = c.Segments[2]
	}
	return s
}

// expandWide adds to some columns of Y with each thread, for the rows of a group. What it reads of H serves all these columns.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func expandWide[A [4]float32 | [8]float32, F row.Vectors[A], U any, G row.Format[U]](t gpu.Thread, h [][4]float32, b []row.Words, groups []Group, y []U, c places) {
	var f F
	var to G
	var none A
	g := groups[t.BlockX()]
	if uint32(g.Adapter) >= c.Adapters {
		return
	}
	p, n, quads := c.segment(uint32(t.BlockY())), int(c.Rank)/len(none), len(none)/4
	first := (uint32(t.BlockY())-p.Tile)*threads*columns + uint32(t.ThreadX())
	from := int(g.Adapter)*int(c.Out) + int(p.First)
	var sums [columns * groupRows]float32
	for w := range n {
		var words [columns]row.Words
		for j := range columns {
			if o := first + uint32(j)*threads; o < p.Count {
				words[j] = b[(from+int(o))*n+w]
			}
		}
		var v [columns]A
		for j := range columns {
			v[j] = f.Unpack(words[j])
		}
		for i := range groupRows {
			if at := uint32(g.Rows[i]); at < c.Rows {
				for q := range quads {
					part := h[int(at)*int(c.Stack/4)+int(p.Shift/4)+w*quads+q]
					for j := range columns {
						for e := range len(part) {
							sums[j*groupRows+i] = math32.FMA(v[j][4*q+e], part[e], sums[j*groupRows+i])
						}
					}
				}
			}
		}
	}
	for j := range columns {
		o := first + uint32(j)*threads
		for i := range groupRows {
			if at := uint32(g.Rows[i]); at < c.Rows && o < p.Count {
				z := &y[int(at)*int(c.Width)+int(p.To+o)]
				*z = to.Of(to.Float32(*z) + sums[j*groupRows+i])
			}
		}
	}
}

// plain computes a column of Y with each thread, for the rows of a group: the products of rows of X with transposed matrices M, of which
// an adapter has Rank x Out elements. If Add is 0, the products replace the elements of Y.
//
//gpu:kernel
//gpu:block 16
func plain(t gpu.Thread, x, m []float32, groups []Group, y []float32, c places) {
	g := groups[t.BlockX()]
	s := c.segment(uint32(t.BlockY()))
	o := (t.BlockY()-int(s.Tile))*row.Lanes + t.ThreadX()
	if uint32(g.Adapter) >= c.Adapters || o >= int(s.Count) {
		return
	}
	from := int(g.Adapter)*int(c.Rank)*int(c.Out) + int(s.First) + o
	var sums [groupRows]float32
	for k := range int(c.Rank) {
		var v float32
		if p := from + k*int(s.Stride); uint(p) < uint(len(m)) {
			v = m[p]
		}
		for i := range groupRows {
			if at := int(uint32(g.Rows[i]))*int(c.Stack) + int(s.Shift) + k; uint32(g.Rows[i]) < c.Rows && uint(at) < uint(len(x)) {
				sums[i] = math32.FMA(v, x[at], sums[i])
			}
		}
	}
	for i := range groupRows {
		if at := int(uint32(g.Rows[i]))*int(c.Width) + int(s.To) + o; uint32(g.Rows[i]) < c.Rows && uint(at) < uint(len(y)) {
			if c.Add != 0 {
				sums[i] += y[at]
			}
			y[at] = sums[i]
		}
	}
}
