package machine

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

// Finding is an error that did not end the kernel: a *Race, or an *Error that wraps ErrUnwritten.
type Finding interface {
	error
	// Add counts another finding if it has the same kernel and the same lines. It reports whether
	// it did.
	Add(Finding) bool
}

// Side is one of the two accesses of a race.
type Side struct {
	Instruction   string
	Line          int    // in the PTX text
	File          string // source file, from .loc; empty if unknown
	FileLine      int
	Verb          string // read, write, atomic read, atomic write
	Block, Thread [3]int
}

// String returns "write at kernels.go:12 (PTX line 40, st.shared.f32) by block 0,0,0 thread 7,0,0".
func (s *Side) String() string {
	place := fmt.Sprintf("PTX line %d, %s", s.Line, s.Instruction)
	if s.File != "" {
		place = fmt.Sprintf("%s:%d (%s)", s.File, s.FileLine, place)
	}
	return fmt.Sprintf("%s at %s by block %s thread %s", s.Verb, place, commas(s.Block), commas(s.Thread))
}

// alike reports whether two accesses are of the same sort and line.
func (s *Side) alike(o *Side) bool {
	return s.Verb == o.Verb && sourceLineOf(s.File, s.FileLine, s.Line) == sourceLineOf(o.File, o.FileLine, o.Line)
}

// A sourceLine is a line of the source or, where the PTX names none, of the PTX.
type sourceLine struct {
	file   string
	number int
}

func sourceLineOf(file string, number, ptxLine int) sourceLine {
	if file == "" {
		return sourceLine{"", ptxLine}
	}
	return sourceLine{file, number}
}

// Race is two accesses to the same memory, of which at least one writes and not both are atomic,
// by threads that nothing puts in order: another run may see the other order, or half of each.
type Race struct {
	Kernel         string
	Where          string // which memory
	Shared         bool
	Earlier, Later Side
	Count          int // pairs like this one; of threads of a warp that read the same place, two count
}

// Error returns "sum: data race: write at ... and, without a barrier in between, read at ..., of byte 140 of shared
// memory; 12 times", with the accesses as Side.String has them.
func (r *Race) Error() string {
	between := "a barrier"
	if r.Earlier.Block != r.Later.Block {
		between = "atomics and fences"
	}
	s := fmt.Sprintf("%s: %v: %v and, without %s in between, %v, of %s", r.Kernel, ErrRace, &r.Earlier, between, &r.Later, r.Where)
	return s + times(r.Count)
}

// Unwrap returns ErrRace.
func (r *Race) Unwrap() error { return ErrRace }

// Add implements Finding.
func (r *Race) Add(f Finding) bool {
	o, ok := f.(*Race)
	if !ok || o.Kernel != r.Kernel {
		return false
	}
	same := o.Earlier.alike(&r.Earlier) && o.Later.alike(&r.Later)
	turned := o.Earlier.alike(&r.Later) && o.Later.alike(&r.Earlier)
	if !same && !turned {
		return false
	}
	r.Count += o.Count
	return true
}

// Add implements Finding.
func (e *Error) Add(f Finding) bool {
	o, ok := f.(*Error)
	if !ok || o.Kernel != e.Kernel || o.Err != e.Err || sourceLineOf(o.File, o.FileLine, o.Line) != sourceLineOf(e.File, e.FileLine, e.Line) {
		return false
	}
	e.Count += o.Count
	return true
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("; %d times", n)
}

// A findingKey identifies findings that are reported once: the places of the two accesses, of which the
// first is -1 if there is only one.
type findingKey struct{ earlier, later int32 }

// seen reports whether the finding exists, and counts it.
func (l *launch) seen(s findingKey) bool {
	switch f := l.found[s].(type) {
	case *Race:
		f.Count++
	case *Error:
		f.Count++
	default:
		return false
	}
	return true
}

// report adds a finding, or counts it if there is one of the same lines: a line may have become several
// instructions.
func (l *launch) report(s findingKey, f Finding) {
	if l.found == nil {
		l.found = map[findingKey]Finding{}
	}
	for _, known := range l.stats.Findings {
		if known.Add(f) {
			l.found[s] = known
			return
		}
	}
	l.found[s] = f
	l.stats.Findings = append(l.stats.Findings, f)
}

// A memoryAccess is an access of a thread to a region, at an address within the space.
type memoryAccess struct {
	in     *instr
	lane   int
	region *region
	at     uint64
}

// unwritten reports a read of memory that has not been written, unless a vector access discards those bytes.
func (w *warp) unwritten(t memoryAccess) {
	x, wanted := t.in.mem, false
	size := min(x.size, x.meant())
	for i := range x.count {
		o := t.at - t.region.base + uint64(i)*size
		wanted = wanted || (x.rows[i] >= 0 || x.write) && t.region.written.firstMissing(o, size) != o+size
	}
	s := findingKey{-1, int32(x.place)}
	if !wanted || w.block.launch.seen(s) {
		return
	}
	e := w.errorAt(int32(x.place), 1<<t.lane)
	e.Err, e.Text, e.Count = ErrUnwritten, fmt.Sprintf("%d bytes, %s", x.meant(), w.where(t)), 1
	w.block.launch.report(s, e)
}

// raced reports the accesses that conflict with t. Stores of the same value do not conflict: memory holds
// it in either order.
func (w *warp) raced(t memoryAccess, f *race.Found) {
	plain := !f.Write.None() && f.Write.Access().Kind == race.Write
	if !(plain && w.silent(t)) {
		w.racedWith(t, f.Write)
	}
	w.racedWith(t, f.Other)
}

// racedWith reports a race with an earlier access, if there is one.
func (w *warp) racedWith(t memoryAccess, s race.Stamp) {
	if s.None() {
		return
	}
	l, a, place := w.block.launch, s.Access(), t.in.mem.place
	pair := findingKey{int32(a.Place), int32(place)}
	if l.seen(pair) {
		return
	}
	later := w.side(place)
	later.Block, later.Thread = w.block.index, w.threadOf(1<<t.lane)
	earlier := w.side(a.Place)
	earlier.Block, earlier.Thread = l.index(s.Block()), l.thread(int(a.Thread))
	l.report(pair, &Race{
		Kernel: w.prog.name, Where: w.where(t), Shared: t.region.shadow.Shared, Earlier: earlier, Later: later, Count: 1,
	})
}

// side describes the access at a place.
func (w *warp) side(place uint32) Side {
	at, x := w.prog.positions[place], w.prog.code[place].mem
	s := Side{Instruction: at.name, Line: at.line, File: w.prog.files[at.loc.File], FileLine: at.loc.Line, Verb: "read"}
	if x.write {
		s.Verb = "write"
	}
	if x.strong {
		s.Verb = "atomic " + s.Verb
	}
	return s
}

// where names the place of an access.
func (w *warp) where(t memoryAccess) string {
	l, r := w.block.launch, t.region
	if l.Name != nil && r == l.mem.find(t.at) {
		if name := l.Name(t.at); name != "" {
			return name
		}
	}
	if r.base == spaceBase {
		return fmt.Sprintf("byte %d of %s", t.at-r.base, r.name)
	}
	return fmt.Sprintf("byte %d of %s", t.at-r.base, r)
}
