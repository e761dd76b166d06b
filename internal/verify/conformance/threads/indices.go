package threads

import "github.com/gopherwarp/gopherwarp/gpu"

// place is all that a thread can ask for about where it is.
type place struct {
	ThreadX, ThreadY, ThreadZ, BlockX, BlockY, BlockZ          int32
	BlockDimX, BlockDimY, BlockDimZ                            int32
	GridDimX, GridDimY, GridDimZ, GlobalX, GlobalY, GlobalZ    int32
	Lane, Warp                                                 int32
	LinearInBlock, LinearInGrid, StrideLoopTurns, Handed, Kept int32
}

//gpu:kernel
func places(t gpu.Thread, out []place) {
	linear := t.ThreadX() + t.BlockDimX()*(t.ThreadY()+t.BlockDimY()*t.ThreadZ())
	block := t.BlockX() + t.GridDimX()*(t.BlockY()+t.GridDimY()*t.BlockZ())
	i := block*t.BlockDimX()*t.BlockDimY()*t.BlockDimZ() + linear
	p := &out[i]
	p.ThreadX, p.ThreadY, p.ThreadZ = int32(t.ThreadX()), int32(t.ThreadY()), int32(t.ThreadZ())
	p.BlockX, p.BlockY, p.BlockZ = int32(t.BlockX()), int32(t.BlockY()), int32(t.BlockZ())
	p.BlockDimX, p.BlockDimY, p.BlockDimZ = int32(t.BlockDimX()), int32(t.BlockDimY()), int32(t.BlockDimZ())
	p.GridDimX, p.GridDimY, p.GridDimZ = int32(t.GridDimX()), int32(t.GridDimY()), int32(t.GridDimZ())
	p.GlobalX, p.GlobalY, p.GlobalZ = int32(t.GlobalX()), int32(t.GlobalY()), int32(t.GlobalZ())
	p.Lane, p.Warp, p.LinearInBlock, p.LinearInGrid = int32(t.Lane()), int32(t.Warp()), int32(linear), int32(i)
	for k := t.GlobalX(); k < 100; k += t.GridDimX() * t.BlockDimX() {
		p.StrideLoopTurns++
	}
	p.Handed = column(t, 3)
	kept := t
	p.Kept = int32(kept.GlobalY())
}

func column(t gpu.Thread, by int) int32 { return int32(t.GlobalX()*by + t.ThreadZ()) }

// wanted returns what thread i of a grid stores.
func wanted(i int, blocks, block [3]int) (p place) {
	size := block[0] * block[1] * block[2]
	b, l := i/size, i%size
	x, y, z := l%block[0], l/block[0]%block[1], l/block[0]/block[1]
	bx, by, bz := b%blocks[0], b/blocks[0]%blocks[1], b/blocks[0]/blocks[1]
	p = place{
		ThreadX: int32(x), ThreadY: int32(y), ThreadZ: int32(z), BlockX: int32(bx), BlockY: int32(by), BlockZ: int32(bz),
		BlockDimX: int32(block[0]), BlockDimY: int32(block[1]), BlockDimZ: int32(block[2]),
		GridDimX: int32(blocks[0]), GridDimY: int32(blocks[1]), GridDimZ: int32(blocks[2]),
		GlobalX: int32(bx*block[0] + x), GlobalY: int32(by*block[1] + y), GlobalZ: int32(bz*block[2] + z),
		Lane: int32(l % 32), Warp: int32(l / 32), LinearInBlock: int32(l), LinearInGrid: int32(i),
	}
	for k := bx*block[0] + x; k < 100; k += blocks[0] * block[0] {
		p.StrideLoopTurns++
	}
	p.Handed, p.Kept = p.GlobalX*3+p.ThreadZ, p.GlobalY
	return p
}
