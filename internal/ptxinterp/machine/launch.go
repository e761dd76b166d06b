package machine

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/traffic"
)

// Kernel is an entry of a module, ready to run.
type Kernel struct {
	prog *program
	mem  *Memory
}

// Name returns the entry's name.
func (k *Kernel) Name() string { return k.prog.name }

// ParamBytes returns the size of the parameters, each aligned as it is declared.
func (k *Kernel) ParamBytes() int { return k.prog.paramBytes }

// Shared returns the bytes of static shared memory of a block.
func (k *Kernel) Shared() int { return k.prog.shared }

// Launch are the parameters of a launch.
type Launch struct {
	Grid, Block [3]int       // every dimension at least 1
	Params      []byte       // ParamBytes of them
	Shared      int          // bytes of dynamic shared memory
	Seed        uint64       // seed of a random order in which warps, and groups of their threads, run; 0 is the fixed order
	Budget      uint64       // maximum number of instructions of all threads; 0 means 1e11
	Stop        *atomic.Bool // ends the kernel soon after it becomes true, unless it is nil
	Resident    int          // maximum number of concurrent blocks; 0 means 4
	Together    bool         // all blocks run concurrently
	Overlaps    bool         // the preceding launch may still be running; threads wait for it
	Cluster     [3]int       // blocks of a cluster along each axis, which run concurrently; 0 means 1
	Traffic     bool         // count memory traffic
	// Name, if it is not nil, returns a name of an address in global memory for reports.
	Name func(address uint64) string
}

// Stats are the statistics of a launch.
type Stats struct {
	Instructions uint64 // executed by threads, including predicated-off ones
	// Findings are the errors that did not end the launch, *Race and *Error, one for each pair of
	// lines, in the order of detection.
	Findings []Finding
	Traffic  *traffic.Table // by source line; nil unless Launch.Traffic was set
}

const (
	defaultBudget   = 100_000_000_000
	defaultResident = 4
	fixedQuantum    = 2000 // instructions of a warp in one turn
	registerBytes   = 256 << 20
)

// launch is a running Launch.
type launch struct {
	Launch
	prog   *program
	mem    *Memory
	params region
	stats  Stats
	random *rand.Rand // nil for the fixed order
	found  map[findingKey]Finding
	counts []traffic.Counts // by instruction; nil unless traffic is counted
	lent   warpMemory       // of all warps
	free   warpMemory       // of those that are still to be made
}

// Run runs the kernel to completion. If a check fails, the error is an *Error, and memory contains
// the writes up to that point.
func (k *Kernel) Run(l Launch) (Stats, error) {
	if l.Budget == 0 {
		l.Budget = defaultBudget
	}
	if l.Resident == 0 {
		l.Resident = defaultResident
	}
	r := &launch{Launch: l, prog: k.prog, mem: k.mem}
	if err := r.check(); err != nil {
		return Stats{}, err
	}
	r.params = region{base: spaceBase, data: l.Params, size: uint64(len(l.Params)), name: "the parameters", readOnly: true}
	k.mem.begin(l.Overlaps)
	if l.Seed != 0 {
		r.random = rand.New(rand.NewPCG(l.Seed, 1))
	}
	if l.Traffic {
		r.counts = make([]traffic.Counts, len(k.prog.code))
	}
	r.borrow()
	err := r.run()
	r.giveBack()
	r.tabulate()
	return r.stats, err
}

func (l *launch) check() error {
	for i := range 3 {
		if l.Grid[i] < 1 || l.Block[i] < 1 {
			return fmt.Errorf("%s: grid %v of blocks %v: %w", l.prog.name, l.Grid, l.Block, ErrLaunch)
		}
	}
	p := l.prog
	most := p.maxThreads[0] * p.maxThreads[1] * p.maxThreads[2]
	switch {
	case l.threads() > 1024:
		return fmt.Errorf("%s: %d threads in a block, allowed are 1024: %w", p.name, l.threads(), ErrLaunch)
	case most > 0 && l.threads() > most:
		return fmt.Errorf("%s: %d threads in a block, .maxntid allows %d: %w", p.name, l.threads(), most, ErrLaunch)
	case p.reqThreads != [3]int{} && p.reqThreads != l.Block:
		return fmt.Errorf("%s: block %v, .reqntid asks for %v: %w", p.name, l.Block, p.reqThreads, ErrLaunch)
	case l.Together && l.blocks() > l.fitting():
		return fmt.Errorf("%s: %d blocks at once, there is room for %d: %w", p.name, l.blocks(), l.fitting(), ErrLaunch)
	case l.mem.order != nil && len(p.code) > race.MaxPlaces:
		return fmt.Errorf("%s: %d instructions, races are looked for in up to %d: %w", p.name, len(p.code), race.MaxPlaces, ErrLaunch)
	case len(l.Params) != p.paramBytes:
		return fmt.Errorf("%s: %d bytes of parameters, it has %d: %w", p.name, len(l.Params), p.paramBytes, ErrLaunch)
	}
	return nil
}

// run starts blocks in the order of the grid and gives turns to those that are resident.
func (l *launch) run() error {
	total, next, done := l.blocks(), 0, 0
	size := l.clusterSize()
	resident := make([]*block, l.places())
	for done < total {
		first := l.choose(len(resident))
		for i := range resident {
			at := (first + i) % len(resident)
			if resident[at] == nil {
				l.place(resident[at/size*size:][:size])
			}
			b := resident[at]
			if next < total && b.cluster.idle() {
				b.cluster.start(next / size)
				next += size
			}
			if !b.running {
				continue
			}
			if err := b.run(); err != nil {
				return err
			}
			if !b.running {
				done++
			}
			switch {
			case l.stats.Instructions > l.Budget:
				return b.ended(ErrBudget, fmt.Sprintf("%d instructions", l.Budget))
			case l.Stop != nil && l.Stop.Load():
				return b.ended(ErrStopped, "")
			}
		}
	}
	return nil
}

// place makes places for the blocks of a cluster.
func (l *launch) place(blocks []*block) {
	c := &cluster{}
	for i := range blocks {
		blocks[i] = newBlock(l)
		blocks[i].cluster = c
		c.blocks = append(c.blocks, blocks[i])
	}
}

// places returns how many blocks are resident at most.
func (l *launch) places() int {
	if l.Together {
		return l.blocks()
	}
	size := l.clusterSize()
	return max(1, min(l.Resident, l.blocks(), l.fitting())/size) * size
}

func (l *launch) blocks() int { return l.Grid[0] * l.Grid[1] * l.Grid[2] }

// fitting returns how many blocks may be resident before their registers and local memory take
// more than registerBytes; at least 1.
func (l *launch) fitting() int {
	thread := 8*l.prog.rows + l.prog.local
	return max(1, registerBytes/(thread*l.threads()))
}

// ended returns an error of the launch with the place of some thread.
func (b *block) ended(err error, text string) error {
	for _, w := range b.warps {
		if len(w.ready) > 0 {
			g := w.ready[0]
			w.failAt(g.pc, g.mask, err, text)
			return w.fault
		}
	}
	return fmt.Errorf("%s: %w", b.launch.prog.name, err)
}

// choose returns which of n to begin with.
func (l *launch) choose(n int) int {
	if l.random == nil {
		return 0
	}
	return l.random.IntN(n)
}

// quantum returns how many instructions a warp may execute in a turn.
func (l *launch) quantum() int {
	if l.random == nil {
		return fixedQuantum
	}
	return 1 + l.random.IntN(64)
}

// threads returns the number of threads of a block.
func (l *launch) threads() int { return l.Block[0] * l.Block[1] * l.Block[2] }

// warps returns the number of warps of a block.
func (l *launch) warps() int { return (l.threads() + warpSize - 1) / warpSize }

// thread returns the index of the n-th thread of a block, x counting fastest.
func (l *launch) thread(n int) [3]int {
	b := l.Block
	if n < b[0] {
		return [3]int{n, 0, 0}
	}
	return [3]int{n % max(1, b[0]), n / max(1, b[0]) % max(1, b[1]), n / max(1, b[0]*b[1])}
}

// index returns the index of the block with number n, x counting fastest.
func (l *launch) index(n int) [3]int {
	g := l.Grid
	return [3]int{n % g[0], n / g[0] % g[1], n / g[0] / g[1]}
}

func hex(v uint64) string { return fmt.Sprintf("%#x", v) }

func decimal(v uint64) string { return strconv.FormatUint(v, 10) }
