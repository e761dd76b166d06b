package nvtx

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Variable is the name of the environment variable by which a profiler names its library.
const Variable = "NVTX_INJECTION64_PATH"

// ErrTool matches the error of Start where the profiler's library cannot be used.
var ErrTool = errors.New("nvtx: the profiler cannot be told")

// Tracer tells a profiler of ranges and marks. Its methods may be called from any goroutine,
// also on a nil Tracer, which does nothing.
type Tracer struct{ slots *slots }

// Range is a stretch of time that has begun.
type Range struct {
	tracer *Tracer
	id     uint64
}

// Start connects with the profiler whose library is tool, which the environment names in Variable, or
// returns a Tracer that does nothing where tool is empty: nobody watches the program. A program starts
// one, once, and hands it on.
func Start(tool string) (*Tracer, error) {
	t := &Tracer{slots: new(slots)}
	if tool == "" {
		return t, nil
	}
	lib, err := dl.Open(tool)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTool, err)
	}
	initialize, err := lib.Symbol("InitializeInjectionNvtx2")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTool, err)
	}
	if dl.Call(initialize, t.slots.exports()) == 0 {
		return nil, fmt.Errorf("%w: %s refused", ErrTool, tool)
	}
	return t, nil
}

// Watched reports whether a profiler listens.
func (t *Tracer) Watched() bool { return t.function(rangeStart) != 0 }

// Range begins a range. Ranges may overlap and end in any order.
func (t *Tracer) Range(name string) Range {
	f := t.function(rangeStart)
	if f == 0 {
		return Range{}
	}
	text := cString(name)
	id := dl.Call(f, uintptr(unsafe.Pointer(text)))
	runtime.KeepAlive(text)
	return Range{t, uint64(id)}
}

// End ends the range. Ending one twice ends it once.
func (r *Range) End() {
	if f := r.tracer.function(rangeEnd); f != 0 {
		dl.Call(f, uintptr(r.id))
	}
	*r = Range{}
}

// Mark names this moment.
func (t *Tracer) Mark(name string) {
	if f := t.function(mark); f != 0 {
		text := cString(name)
		dl.Call(f, uintptr(unsafe.Pointer(text)))
		runtime.KeepAlive(text)
	}
}

// function returns what the profiler has put into a slot, or 0.
func (t *Tracer) function(i int) uintptr {
	if t == nil {
		return 0
	}
	return t.slots.functions[coreModule][i]
}

// cString returns the first byte of the text with a zero behind it.
func cString(text string) *byte { return &append([]byte(text), 0)[0] }
