package machine

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

// block is a block of threads that is resident: a place that takes one block of the grid
// after another.
type block struct {
	launch   *launch
	cluster  *cluster // that it belongs to
	index    [3]int
	warps    []*warp
	live     int // threads that have not exited
	shared   region
	near     []*region // for each access of the program, the memory that it met last
	barriers [maxBarriers]barrier
	turns    int

	mbarriers map[uint64]*mbarrier // by address
	unfenced  []uint16             // see proxy.go; nil unless it matters
	patience  int                  // how often threads that wait for phases were let go since something happened
	running   bool

	order    *race.Block // nil unless races are looked for
	from, to []uint32    // masks for it
}

func newBlock(l *launch) *block {
	b := &block{launch: l}
	size := align(l.prog.shared, 16) + l.Shared
	b.shared = region{base: spaceBase, data: make([]byte, size, align(size, wordBytes)), size: uint64(size), name: "shared memory"}
	b.near = make([]*region, l.prog.nears)
	none := &region{} // that no address is in, so that none of near is nil
	for i := range b.near {
		b.near[i] = none
	}
	for id := range l.warps() {
		b.warps = append(b.warps, newWarp(b, id))
	}
	b.watch()
	return b
}

// start makes b the block of the grid at index.
func (b *block) start(index [3]int) {
	b.index = index
	g := b.launch.Grid
	n := index[0] + g[0]*(index[1]+g[1]*index[2])
	b.live = b.launch.threads()
	b.barriers = [maxBarriers]barrier{}
	b.running = true
	poison(b.shared.data)
	clear(b.shared.written)
	b.mbarriers, b.patience = map[uint64]*mbarrier{}, 0
	clear(b.unfenced)
	if b.order != nil {
		b.order.Start(uint32(n))
	}
	for _, w := range b.warps {
		w.start()
	}
}

// run gives each warp a turn, and returns the first error.
func (b *block) run() error {
	l := b.launch
	b.turns++
	first := l.choose(len(b.warps))
	progress := false
	for i := range b.warps {
		w := b.warps[(first+i)%len(b.warps)]
		if len(w.ready) == 0 {
			continue
		}
		progress = true
		w.run(l.quantum(), b.turns%4 == 0)
		if err := b.fault(); err != nil {
			return err
		}
	}
	if b.live == 0 {
		b.running = false
		return nil
	}
	if !progress && !b.timeUp() && !b.cluster.canProgress() {
		return b.deadlock()
	}
	return nil
}

// fault returns an error of any warp: a barrier can find one in a warp that did not run.
func (b *block) fault() error {
	for _, w := range b.warps {
		if w.fault != nil {
			return w.fault
		}
	}
	return nil
}

// deadlock reports that all threads of the block wait, and where. Where part of a warp waits at
// a barrier that the whole warp has to reach, that is the reason.
func (b *block) deadlock() error {
	var places []string
	var culprit *warp
	var at group
	for _, w := range b.warps {
		for _, g := range w.waiting {
			p := w.prog.positions[g.pc]
			if len(places) < 8 {
				places = append(places, fmt.Sprintf("threads %s at line %d (%s)", w.threads(g.mask), p.line, p.name))
			}
			if culprit == nil || w.splitAt(g) && !culprit.splitAt(at) {
				culprit, at = w, g
			}
		}
	}
	if culprit == nil {
		panic("BUG: threads that neither run nor wait")
	}
	kind := ErrDeadlock
	if culprit.splitAt(at) {
		kind = ErrBarrier
	}
	culprit.failAt(at.pc, at.mask, kind, "all threads of the block wait: "+strings.Join(places, ", "))
	return culprit.fault
}

// splitAt reports whether a waiting group is part of a warp at an aligned barrier.
func (w *warp) splitAt(g group) bool {
	op := w.prog.code[g.pc].bar
	return op != nil && op.aligned && g.mask != w.live
}

// threads names the threads of a mask by their linear index, as "0-31" or "4, 6-7".
func (w *warp) threads(mask uint32) string {
	var parts []string
	for l := 0; l < warpSize; l++ {
		if mask>>l&1 == 0 {
			continue
		}
		end := l
		for end+1 < warpSize && mask>>(end+1)&1 == 1 {
			end++
		}
		s := fmt.Sprint(w.id*warpSize + l)
		if end > l {
			s += fmt.Sprintf("-%d", w.id*warpSize+end)
		}
		parts = append(parts, s)
		l = end
	}
	return strings.Join(parts, ", ")
}
