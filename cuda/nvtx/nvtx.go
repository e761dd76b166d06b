package nvtx

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Variable is the environment variable in which a profiler names its library.
const Variable = "NVTX_INJECTION64_PATH"

// ErrTool matches the error of Start if the profiler's library cannot be used.
var ErrTool = errors.New("nvtx: the profiler's library cannot be used")

// Tracer reports ranges and marks to a profiler. Multiple goroutines may invoke its methods
// simultaneously. The methods of a nil Tracer do nothing.
type Tracer struct{ slots *slots }

// A Range is a named range of time that Tracer.Range has begun.
type Range struct {
	tracer *Tracer
	id     uint64
}

// Start connects to a profiler. The argument tool is the name of the profiler's library: the value
// of the environment variable that Variable names. If tool is empty, no profiler is attached, and
// Start returns a Tracer that does nothing. A program calls Start once and shares the Tracer.
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
		return nil, fmt.Errorf("%w: %s refused to initialize", ErrTool, tool)
	}
	return t, nil
}

// Watched reports whether a profiler is attached.
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

// End ends the range. A second call has no effect.
func (r *Range) End() {
	if f := r.tracer.function(rangeEnd); f != 0 {
		dl.Call(f, uintptr(r.id))
	}
	*r = Range{}
}

// Mark marks the current moment with a name.
func (t *Tracer) Mark(name string) {
	if f := t.function(mark); f != 0 {
		text := cString(name)
		dl.Call(f, uintptr(unsafe.Pointer(text)))
		runtime.KeepAlive(text)
	}
}

// function returns the function that the profiler has stored in a slot, or 0.
func (t *Tracer) function(i int) uintptr {
	if t == nil {
		return 0
	}
	return t.slots.functions[coreModule][i]
}

// cString returns a pointer to a copy of text with a terminating zero byte.
func cString(text string) *byte { return &append([]byte(text), 0)[0] }
