package softmax

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	shortWords   = 8   // of the longest row of short
	shortThreads = 128 // of a block of short
	together     = 4   // rows of a team of short
)

// short computes some rows with each team. A row has at most one Words for each thread of the team. A thread copies its Words of all rows
// to shared memory at once, so that many bytes are in flight, and computes each exponential once.
//
//gpu:kernel
//gpu:twin off
func short[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, y []row.Words, lengths []int32, c config) {
	held := gpu.DynamicShared[row.Words](t)
	r := shortRow[A, F]{team: row.TeamOf(t), columns: c.Columns, rows: c.Rows}
	slot, step := uint32(t.ThreadY()*t.BlockDimX()+t.ThreadX()), uint32(t.BlockDimX()*t.BlockDimY())
	for k := range uint32(together) {
		if at := r.index(t, k); at < uint(len(x)) {
			gpu.CopyAsync(t, &held[slot+k*step], &x[at])
		}
	}
	t.CommitCopies()
	t.WaitCopies(0)
	for k := range uint32(together) {
		at := r.index(t, k)
		var a A
		limit := int32(0)
		if at < uint(len(x)) {
			a, limit = r.format.Unpack(held[slot+k*step]), c.limit(lengths, int(r.at(t, k)))
		}
		a = r.softmax(t, a, limit, c)
		if at < uint(len(y)) {
			y[at] = r.format.Pack(a)
		}
	}
}

// shortGrid returns the grid of short for rows of n Words.
func shortGrid(rows, n int) device.Grid {
	lanes := 1 << bits.Len(uint(n-1))
	teams := shortThreads / lanes
	return device.Grid{
		Blocks: device.Dim{X: (rows + together*teams - 1) / (together * teams)},
		Block:  device.Dim{X: lanes, Y: teams},
		Shared: 16 * shortThreads * together,
	}
}

// shortRow is the rows of a team of short.
type shortRow[A [4]float32 | [8]float32, F row.Vectors[A]] struct {
	team          row.Team
	columns, rows uint32
	format        F
}

// at returns the number of the team's k-th row.
func (r *shortRow[A, F]) at(t gpu.Thread, k uint32) uint32 {
	return (uint32(t.BlockX())*together+k)*uint32(t.BlockDimY()) + uint32(t.ThreadY())
}

// index returns the index of the thread's Words of the k-th row, or the greatest number if there is none.
func (r *shortRow[A, F]) index(t gpu.Thread, k uint32) uint {
	var a A
	n := r.columns / uint32(len(a))
	at := r.at(t, k)
	if at >= r.rows || uint32(r.team.Me) >= n {
		return math.MaxUint
	}
	return uint(at)*uint(n) + uint(r.team.Me)
}

// softmax returns the results of a thread's elements of a row with a limit.
func (r *shortRow[A, F]) softmax(t gpu.Thread, a A, limit int32, c config) A {
	left := limit - int32(r.team.Me*len(a))
	for k := range len(a) {
		a[k] *= c.Scale * math.Log2E
	}
	a = masked(a, left, math32.Inf(-1))
	l := none()
	for k := range len(a) {
		l.top = max(l.top, a[k])
	}
	l.top = r.team.WarpMax(t, l.top)
	var powers A
	for k := range len(a) {
		powers[k] = math32.FastExp2(a[k] - l.top)
		l.sum += powers[k]
	}
	l.sum = r.team.WarpSum(t, l.sum)
	if l.sum == 0 {
		left = 0
	}
	if c.Log {
		offset := l.top + math32.Log2(l.sum)
		for k := range len(a) {
			a[k] = (a[k] - offset) * math.Ln2
		}
		return masked(a, left, math32.Inf(-1))
	}
	factor := math32.FastRcp(l.sum)
	for k := range len(a) {
		powers[k] *= factor
	}
	return masked(powers, left, 0)
}
