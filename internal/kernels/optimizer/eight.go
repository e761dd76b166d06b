package optimizer

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Chunk is up to Block neighbouring parameters, whose moments have common scales.
type Chunk struct {
	At     int32 // where the parameters begin, in units of Unit elements
	Length int32 // in units of Unit elements
	// Slot is the number of the chunk among those whose moments have 8 bits, or minus 1 minus the number among the others.
	Slot int32
}

// Block is the number of parameters whose 8-bit moments have common scales.
const Block = 256

// Unit is a number of elements of which parameters begin at multiples.
const Unit = 64

// tables are the tables of Tables in shared memory.
type tables struct {
	Levels [2 * levels]float32
	Cells  [2 * cells]cell
}

// number returns the number of the level that is nearest to a magnitude of at most 1.
func (c cell) number(a float32) int32 {
	parts, perUnit := c.Parts, c.Low
	if a >= c.Border {
		parts, perUnit = 2*parts, c.High
	}
	return int32(min(max(a*perUnit+parts*(8./9), parts), 2*parts-0.5))
}

// cellOf returns the index of the cell of a magnitude.
func cellOf(a float32) uint32 {
	return (max(math.Float32bits(a), lowestCell<<23)>>23 - lowestCell) % cells
}

// magnitude returns the magnitude of x without its sign, also of -0.
func magnitude(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// codeOf returns the code of a first moment with a sign, whose magnitude has the given number.
func codeOf(x float32, number int32) uint32 {
	negative := int32(math.Float32bits(x)) >> 31                                       // -1 or 0
	return uint32(zeroCode + (min(number, zeroCode+1+negative) ^ negative) - negative) // there is no level -1
}

// inverse returns 1/x, or 0 for the scale 0 of a chunk whose moments are 0.
func inverse(x float32) float32 {
	if x > 0 {
		return 1 / x
	}
	return 0
}

// plainAdamW8 is adamW for a chunk. The moments that have 8 bits are in codes, first all first ones, and their scales in scales; the others are in
// exact. The table is that of Tables. Derivatives are in grad, or in half, and then the parameters are stored in copy, too. New moments are
// computed twice, because a thread has no room for them: the first pass finds their scales.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
func plainAdamW8(t gpu.Thread, chunks []Chunk, master, grad []float32, half, copy []dtype.BF16, codes []uint8, scales, exact, table, factor []float32, r rates) {
	me := t.GlobalX()
	if me >= len(chunks) {
		return
	}
	c := chunks[me]
	scale := float32(1)
	if r.Multiplying {
		scale = factor[0]
	}
	at, n := int(c.At)*Unit, int(c.Length)*Unit
	slot, second, other := int(c.Slot), len(codes)/2, len(scales)/2
	pass := 0
	var one, two, most, mostSquare float32
	if slot < 0 {
		slot, second, pass = -1-slot, len(exact)/2, 1
	} else {
		one, two = scales[slot], scales[other+slot]
	}
	for ; pass < 2; pass++ {
		by, bySquare := inverse(most), inverse(mostSquare)
		for i := range n {
			m := slot*Block + i
			v := second + m
			a := average{x: master[at+i]}
			if c.Slot < 0 {
				a.first, a.second = exact[m], exact[v]
			} else {
				a.first, a.second = table[codes[m]]*one, table[levels+int(codes[v])]*two
			}
			var g float32
			if len(half) > 0 {
				g = half[at+i].Float32()
			} else {
				g = grad[at+i]
			}
			a = r.next(a, g*scale)
			if pass == 0 {
				most, mostSquare = max(most, magnitude(a.first)), max(mostSquare, a.second)
				continue
			}
			if c.Slot < 0 {
				exact[m], exact[v] = a.first, a.second
			} else {
				codes[m] = uint8(codeOf(a.first, numberOf(table, magnitude(a.first)*by, 0)))
				codes[v] = uint8(numberOf(table, a.second*bySquare, cells) - 1)
			}
			master[at+i] = a.x
			if len(half) > 0 {
				half[at+i], copy[at+i] = 0, dtype.BF16From32(a.x)
			} else {
				grad[at+i] = 0
			}
		}
	}
	if c.Slot >= 0 {
		scales[slot], scales[other+slot] = most, mostSquare
	}
}

// numberOf returns the number of the level that is nearest to a magnitude, whose cells begin with the given number in a table of Tables.
func numberOf(table []float32, a float32, begin int) int32 {
	at := 2*levels + 4*(begin+int(cellOf(a)))
	c := cell{table[at], table[at+1], table[at+2], table[at+3]}
	return c.number(a)
}

// perLane is the number of parameters of a chunk that a lane of wideAdamW8 updates.
const perLane = Block / gpu.WarpSize

// wideAdamW8 is plainAdamW8 by warps, each of which takes one chunk after another. All first codes precede the second ones, as do all first scales
// and exact moments.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func wideAdamW8(t gpu.Thread, chunks []Chunk, master, grad [][4]float32, half, copy [][4]dtype.BF16, codes [][2]uint32, scales []float32, exact [][4]float32, table, factor []float32, r rates) {
	shared := gpu.Shared[tables](t)
	shared.load(t, table)
	t.Sync()
	scale := float32(1)
	if r.Multiplying {
		scale = factor[0]
	}
	lane := t.Lane()
	for me := t.GlobalX() / gpu.WarpSize; me < len(chunks); me += t.GridDimX() * (threads / gpu.WarpSize) {
		c := chunks[me]
		live := lane < int(c.Length)*(Unit/perLane)
		at, slot, second := int(c.At)*(Unit/4)+2*lane, int(c.Slot)*(Block/perLane)+lane, len(codes)/2
		if c.Slot < 0 {
			slot, second = 2*(int(-1-c.Slot)*(Block/perLane)+lane), len(exact)/2
		}
		var x [perLane]average
		var most, mostSquare float32
		if live {
			var values, g [2][4]float32 // all of them are loaded before the first store
			for k := range 2 {
				values[k] = master[at+k]
				if len(half) > 0 {
					for j, v := range half[at+k] {
						g[k][j] = v.Float32()
					}
				} else {
					g[k] = grad[at+k]
				}
			}
			if c.Slot < 0 {
				x = unpacked(exact, slot, second)
			} else {
				x = shared.decoded(codes[slot], codes[second+slot], scales[c.Slot], scales[len(scales)/2+int(c.Slot)])
			}
			for k := range 2 {
				var rounded [4]dtype.BF16
				for j := range 4 {
					a := &x[4*k+j]
					a.x = values[k][j]
					*a = r.next(*a, g[k][j]*scale)
					values[k][j], rounded[j] = a.x, dtype.BF16From32(a.x)
					most, mostSquare = max(most, magnitude(a.first)), max(mostSquare, a.second)
				}
				master[at+k] = values[k]
				if len(half) > 0 {
					half[at+k], copy[at+k] = [4]dtype.BF16{}, rounded
				} else {
					grad[at+k] = [4]float32{}
				}
			}
		}
		for d := 1; d < gpu.WarpSize; d *= 2 {
			most, mostSquare = max(most, gpu.ShuffleXor(t, most, d)), max(mostSquare, gpu.ShuffleXor(t, mostSquare, d))
		}
		t.SyncWarp() // all lanes have read the scales
		if live && c.Slot < 0 {
			pack(&x, exact, slot, second)
		} else if live {
			codes[slot], codes[second+slot] = shared.encoded(&x, inverse(most), inverse(mostSquare))
			if lane == 0 {
				scales[c.Slot], scales[len(scales)/2+int(c.Slot)] = most, mostSquare
			}
		}
	}
}

// load copies the tables.
func (s *tables) load(t gpu.Thread, table []float32) {
	for i := t.ThreadX(); i < 2*levels; i += threads {
		s.Levels[i] = table[i]
	}
	for i := t.ThreadX(); i < 2*cells; i += threads {
		at := 2*levels + 4*i
		s.Cells[i] = cell{table[at], table[at+1], table[at+2], table[at+3]}
	}
}

// unpacked returns moments of 32 bits that are at an index of exact and, the second ones, at a distance.
func unpacked(exact [][4]float32, at, second int) (x [perLane]average) {
	for k := range 2 {
		m, v := exact[at+k], exact[second+at+k]
		for j := range 4 {
			x[4*k+j].first, x[4*k+j].second = m[j], v[j]
		}
	}
	return x
}

// pack stores what unpacked returns.
func pack(x *[perLane]average, exact [][4]float32, at, second int) {
	for k := range 2 {
		var m, v [4]float32
		for j := range 4 {
			m[j], v[j] = x[4*k+j].first, x[4*k+j].second
		}
		exact[at+k], exact[second+at+k] = m, v
	}
}

// decoded returns the moments with codes and scales.
func (s *tables) decoded(m, v [2]uint32, one, two float32) (x [perLane]average) {
	for k := range perLane {
		shift := uint32(k % 4 * 8)
		x[k].first, x[k].second = s.Levels[m[k/4]>>shift&255]*one, s.Levels[levels+v[k/4]>>shift&255]*two
	}
	return x
}

// encoded returns the codes of moments, given the inverse scales.
func (s *tables) encoded(x *[perLane]average, by, bySquare float32) (m, v [2]uint32) {
	for k := range perLane {
		shift := uint32(k % 4 * 8)
		a, b := magnitude(x[k].first)*by, x[k].second*bySquare
		m[k/4] |= codeOf(x[k].first, s.Cells[cellOf(a)].number(a)) << shift
		v[k/4] |= uint32(s.Cells[cells+cellOf(b)].number(b)-1) << shift
	}
	return m, v
}
