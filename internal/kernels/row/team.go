package row

import "github.com/gopherwarp/gopherwarp/gpu"

// Threads is the number of threads in a block of a Wide kernel, and Warps that of its warps.
const (
	Threads = 256
	Warps   = Threads / gpu.WarpSize
)

// Team is the threads of a Wide kernel that share a row: Size of them, a warp or a block. Me is the thread's index among them.
type Team struct{ Row, Me, Size int }

// TeamOf returns the team of a thread. Teams of the same size take consecutive rows.
func TeamOf(t gpu.Thread, size int) Team {
	if size == Threads {
		return Team{t.BlockX(), t.ThreadX(), Threads}
	}
	return Team{t.BlockX()*Warps + t.Warp(), t.Lane(), gpu.WarpSize}
}

// TeamSize returns the size of the teams for rows of n vectors: a warp for short rows.
func TeamSize(n int) int {
	if n <= 4*gpu.WarpSize {
		return gpu.WarpSize
	}
	return Threads
}

// Blocks returns the number of blocks for rows that teams of a size share.
func Blocks(rows, size int) int {
	teams := Threads / size
	return (rows + teams - 1) / teams
}

// Sum returns the sum of v over the team, to all its threads. All teams of the block call it. parts is overwritten; another call
// with the same parts must be separated from it by a barrier.
func (m Team) Sum(t gpu.Thread, parts *[Warps]float32, v float32) float32 {
	v = gpu.WarpReduceAdd(t, v)
	if m.Size == gpu.WarpSize {
		return v
	}
	if t.Lane() == 0 {
		parts[t.Warp()] = v
	}
	t.Sync()
	v = parts[t.Lane()%Warps]
	for d := Warps / 2; d > 0; d /= 2 {
		v += gpu.ShuffleXor(t, v, d)
	}
	return v
}
