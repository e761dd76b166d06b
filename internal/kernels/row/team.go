package row

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Team is the threads of a Wide kernel that share a row: Size of them, a warp or a block. Me is the thread's index among them.
type Team struct{ Row, Me, Size int }

// blockThreads is the number of threads in a block whose warps are teams.
const blockThreads = 256

// TeamSize returns the size of the teams for rows of n vectors: a warp for short rows, and blocks of two sizes. It has no sign, so
// that the compiler knows that indices are not negative.
func TeamSize(n int) uint32 {
	switch {
	case n <= 4*gpu.WarpSize:
		return gpu.WarpSize
	case n <= 1024:
		return 256
	}
	return 512
}

// Teams returns the grid that has a team of a size for each row.
func Teams(rows int, size uint32) device.Grid {
	if size > gpu.WarpSize {
		return device.Grid{Blocks: device.Dim{X: rows}, Block: device.Dim{X: int(size)}}
	}
	return device.Cover(rows*gpu.WarpSize, blockThreads)
}

// TeamOf returns the team of a thread. Teams take consecutive rows, some of the last block perhaps rows that do not exist.
func TeamOf(t gpu.Thread, size uint32) Team {
	if size > gpu.WarpSize {
		return Team{t.BlockX(), t.ThreadX(), int(size)}
	}
	return Team{t.BlockX()*(blockThreads/gpu.WarpSize) + t.Warp(), t.Lane(), int(size)}
}

// Parts is shared memory for a result of each warp of a block.
type Parts [gpu.WarpSize]float32

// Sum returns the sum of v over the team, to all its threads. All teams of the block call it. parts is overwritten; a barrier must
// separate two calls with the same parts.
func (m Team) Sum(t gpu.Thread, parts *Parts, v float32) float32 {
	v = gpu.WarpReduceAdd(t, v)
	if m.Size == gpu.WarpSize {
		return v
	}
	m.exchange(t, parts, v)
	v = 0
	for i := range min(m.Size/gpu.WarpSize, len(parts)) {
		v += parts[i]
	}
	return v
}

// Max is like Sum, and returns the greatest v, or NaN if one is NaN.
func (m Team) Max(t gpu.Thread, parts *Parts, v float32) float32 {
	v = gpu.WarpReduceMax(t, v)
	if m.Size == gpu.WarpSize {
		return v
	}
	m.exchange(t, parts, v)
	for i := range min(m.Size/gpu.WarpSize, len(parts)) {
		v = max(v, parts[i])
	}
	return v
}

// exchange stores the results of the block's warps.
func (m Team) exchange(t gpu.Thread, parts *Parts, v float32) {
	if t.Lane() == 0 {
		parts[t.Warp()] = v
	}
	t.Sync()
}
