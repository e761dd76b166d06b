package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// output is where results are stored: one of two element types.
type output struct {
	y     []float32
	half  []dtype.BF16
	first int32   // element
	at    int32   // the element of the thread in the current tile, or -1
	was   float32 // what the product is added to
	odd   int32   // 1 for every other tile, so that a barrier for each tile suffices
}

// begin finds the thread's element of a tile and loads what is added to it. z.Lanes neighbouring threads have the same element.
func (o *output) begin(t gpu.Thread, z size, tile int32) {
	i := uint32(t.ThreadX()) / uint32(z.Lanes)
	row, vector := tile*tileRows+int32(i%tileRows), int32(i/tileRows)
	o.at, o.was = -1, 0
	if row >= z.Rows || vector >= z.Vectors {
		return
	}
	o.at = o.first + vector*z.Rows + row
	o.load(z)
}

// load loads what is added to the thread's element.
func (o *output) load(z size) {
	if z.Add {
		if len(o.half) > 0 {
			o.was = o.half[o.at].Float32()
		} else {
			o.was = o.y[o.at]
		}
	}
}

// The sums of a warp in shared memory are, for each column, those of the 16 rows. Distances between columns and warps are such that
// neither stores nor loads conflict, in units of two numbers.
const (
	columnPairs = 10
	warpPad     = 1
)

// sumPairs returns the size of the sums of a warp for tiles of columns.
func sumPairs(tiles int) int { return tiles*8*columnPairs + warpPad }

// finish adds up what the warps have and stores it.
func (p *product[Q, R]) finish(t gpu.Thread) {
	var q Q
	var r R
	o := &p.output
	warps, span := int32(t.BlockDimX()/warpSize), int32(sumPairs(int(r.tiles())))
	all := gpu.DynamicShared[[2]float32](t)[2*p.Sums+o.odd*warps*span:][:warps*span]
	o.odd ^= 1
	to := all[int32(t.Warp())*span:][:span]
	for i := range r.tiles() {
		var v numbers
		for j := range v {
			v[j] = q.unit() * p.sums.dots[i][j]
			if q.offset() {
				v[j] -= p.Minimum * p.sums.minima[i][j]
			}
		}
		at := (int(i)*8+t.Lane()%4*2)*columnPairs + t.Lane()/4
		to[at], to[at+columnPairs] = [2]float32{v[0], v[2]}, [2]float32{v[1], v[3]}
	}
	t.Sync()
	o.store(t, p.element(t, all), p.size)
}

// element returns the thread's part of its element: the sums of some of the warps.
func (p *product[Q, R]) element(t gpu.Thread, all [][2]float32) (sum float32) {
	if p.output.at < 0 {
		return 0
	}
	var r R
	me, lanes := uint32(t.ThreadX()), uint32(p.Lanes)
	row, column, n := me/lanes%tileRows, int32(me/lanes/tileRows), int32(1)
	if r.passes() == 1 {
		column, n = column*p.Parts, p.Parts
	}
	at := column*columnPairs + int32(row/2)
	for w := int32(me % lanes); w < int32(t.BlockDimX()/warpSize); w += p.Lanes {
		for i := range n {
			v := all[w*int32(sumPairs(int(r.tiles())))+at+i*columnPairs]
			if row%2 == 0 {
				sum += v[0]
			} else {
				sum += v[1]
			}
		}
	}
	return sum
}

// store adds up the parts and stores the element.
func (o *output) store(t gpu.Thread, sum float32, z size) {
	for lanes := z.Lanes / 2; lanes > 0; lanes /= 2 {
		sum += gpu.ShuffleXor(t, sum, int(lanes))
	}
	if o.at < 0 || int32(t.ThreadX())&(z.Lanes-1) != 0 {
		return
	}
	sum += o.was
	if len(o.half) > 0 {
		o.half[o.at] = dtype.BF16From32(sum)
	} else {
		o.y[o.at] = sum
	}
}
