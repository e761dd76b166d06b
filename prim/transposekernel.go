package prim

import "github.com/gopherwarp/gopherwarp/gpu"

const (
	smallSide = 32 // side of a tile of elements
	wideSide  = 64 // side of a tile of packs of four
	tileRows  = 8  // rows that a block moves at once
)

// transposeTiles transposes a matrix by tiles in shared memory. The rows of a tile have an extra
// element, so that the elements of a column are in different banks.
//
//gpu:kernel
//gpu:block 32,8
//gpu:instance transposeAny = transposeTiles[uint8|uint16|uint32|uint64|[2]uint64]
func transposeTiles[E element](t gpu.Thread, in, out []E, rows, columns int) {
	part := gpu.Shared[[smallSide][smallSide + 1]E](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	x, y := t.BlockX()*smallSide, t.BlockY()*smallSide
	for y := y; y < rows; y += t.GridDimY() * smallSide {
		for j := ty; j < smallSide; j += tileRows {
			if y+j < rows && x+tx < columns {
				part[j][tx] = in[(y+j)*columns+x+tx]
			}
		}
		t.Sync()
		for j := ty; j < smallSide; j += tileRows {
			if x+j < columns && y+tx < rows {
				out[(x+j)*rows+y+tx] = part[tx][j]
			}
		}
		t.Sync()
	}
}

// transposeWide is like transposeTiles for groups of four elements. rows and columns count groups
// and must be multiples of 16; a block moves one tile.
//
//gpu:kernel
//gpu:block 16,16
//gpu:instance transposeWide32 = transposeWide[uint32]
func transposeWide[E uint32](t gpu.Thread, in, out [][4]E, rows, columns int) {
	part := gpu.Shared[[wideSide][wideSide + 1]E](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	x, y := t.BlockX()*wideSide/4, t.BlockY()*wideSide
	for j := 0; j < wideSide; j += 16 {
		v := in[(y+ty+j)*columns+x+tx]
		for k := range v {
			part[ty+j][4*tx+k] = v[k]
		}
	}
	t.Sync()
	x, y = t.BlockY()*wideSide/4, t.BlockX()*wideSide
	for j := 0; j < wideSide; j += 16 {
		var v [4]E
		for k := range v {
			v[k] = part[4*tx+k][ty+j]
		}
		out[(y+ty+j)*rows+x+tx] = v
	}
}
