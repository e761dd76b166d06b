package trace

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
)

// Profile accumulates device time by Go call stack. The innermost frame is the kernel, at its own
// source line, and the outer frames are the callers of the launch or copy. A Profile can watch
// several devices.
type Profile struct {
	mu          sync.Mutex
	program     string
	begin, took int64              // in nanoseconds; the first since 1970
	samples     map[string]*sample // by the numbers of their locations
	list        []*sample
	locations   numbered
	functions   numbered // of frames with line 0
}

// sample is the work that a call stack has caused.
type sample struct {
	stack  []int64  // the numbers of its locations, the innermost first
	values [3]int64 // activities, bytes and nanoseconds
}

// A frame is a line of a function.
type frame struct {
	function, file string
	line           int
}

// whole returns the frame of the function without a line.
func (f frame) whole() frame {
	f.line = 0
	return f
}

// numbered holds frames by number, from 1.
type numbered struct {
	list []frame
	ids  map[frame]int64
}

// id returns the number of a frame, which it adds if it is new.
func (n *numbered) id(f frame) int64 {
	id, ok := n.ids[f]
	if !ok {
		n.list = append(n.list, f)
		id = int64(len(n.list))
		if n.ids == nil {
			n.ids = map[frame]int64{}
		}
		n.ids[f] = id
	}
	return id
}

// NewProfile returns an empty profile.
func NewProfile() *Profile {
	program, _ := os.Executable() // the name of the profile in viewers; the file is not read
	return &Profile{program: program, samples: map[string]*sample{}}
}

// Did implements device.Watcher.
func (p *Profile) Did(done []device.Activity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range done {
		s := p.sample(a)
		took := a.End.Sub(a.Begin).Nanoseconds()
		s.values[0]++
		s.values[1] += int64(a.Bytes)
		s.values[2] += took
		if p.begin == 0 {
			p.begin = a.Called.UnixNano()
		}
		p.took = max(p.took, a.End.UnixNano()-p.begin)
	}
}

// Closed implements device.Watcher. It does nothing.
func (p *Profile) Closed() error { return nil }

// sample returns the sample to which a contributes.
func (p *Profile) sample(a device.Activity) *sample {
	stack := []int64{p.location(innermost(a))}
	for frames := runtime.CallersFrames(a.Stack); ; {
		f, more := frames.Next()
		if f.Function != "" && !plumbing(f) {
			stack = append(stack, p.location(frame{f.Function, f.File, f.Line}))
		}
		if !more {
			break
		}
	}
	key := fmt.Sprint(stack)
	s, ok := p.samples[key]
	if !ok {
		s = &sample{stack: stack}
		p.samples[key] = s
		p.list = append(p.list, s)
	}
	return s
}

// innermost returns the innermost frame for a: the kernel's line, or a name such as "(upload)".
func innermost(a device.Activity) frame {
	if k := a.Kernel; k != nil {
		return frame{k.Package + "." + k.Name, k.File, k.Line}
	}
	return frame{function: "(" + a.Work.String() + ")"}
}

// location returns the number of a frame, and gives its function a number.
func (p *Profile) location(at frame) int64 {
	p.functions.id(at.whole())
	return p.locations.id(at)
}

// Write writes the profile recorded so far in the format of go tool pprof.
func (p *Profile) Write(w io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.encode().write(w); err != nil {
		return fmt.Errorf("trace: profile: %w", err)
	}
	return nil
}
