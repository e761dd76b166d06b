package trace

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/google/pprof/profile"

	"github.com/gopherwarp/gopherwarp/device"
)

// Profile accumulates device time by Go call stack. The innermost frame is the kernel, at its own
// source line, and the outer frames are the callers of the launch or copy. A Profile can watch
// several devices.
type Profile struct {
	mu        sync.Mutex
	p         *profile.Profile
	samples   map[string]*profile.Sample // by the IDs of the locations
	locations map[frame]*profile.Location
	functions map[frame]*profile.Function // keys have line 0
}

// A frame is a line of a function.
type frame struct {
	function, file string
	line           int
}

// NewProfile returns an empty profile.
func NewProfile() *Profile {
	program, _ := os.Executable() // the name of the profile in viewers; the file is not read
	return &Profile{
		p: &profile.Profile{
			Mapping:           []*profile.Mapping{{ID: 1, File: program, HasFunctions: true, HasFilenames: true, HasLineNumbers: true}},
			SampleType:        []*profile.ValueType{{Type: "work", Unit: "count"}, {Type: "bytes", Unit: "bytes"}, {Type: "device", Unit: "nanoseconds"}},
			DefaultSampleType: "device",
			PeriodType:        &profile.ValueType{Type: "device", Unit: "nanoseconds"},
			Period:            1,
		},
		samples: map[string]*profile.Sample{}, locations: map[frame]*profile.Location{}, functions: map[frame]*profile.Function{},
	}
}

// Did implements device.Watcher.
func (p *Profile) Did(done []device.Activity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range done {
		s := p.sample(a)
		took := a.End.Sub(a.Begin).Nanoseconds()
		s.Value[0]++
		s.Value[1] += int64(a.Bytes)
		s.Value[2] += took
		if p.p.TimeNanos == 0 {
			p.p.TimeNanos = a.Called.UnixNano()
		}
		p.p.DurationNanos = max(p.p.DurationNanos, a.End.UnixNano()-p.p.TimeNanos)
	}
}

// Closed implements device.Watcher. It does nothing.
func (p *Profile) Closed() error { return nil }

// sample returns the sample to which a contributes.
func (p *Profile) sample(a device.Activity) *profile.Sample {
	stack := []*profile.Location{p.location(innermost(a))}
	key := fmt.Sprint(stack[0].ID)
	for frames := runtime.CallersFrames(a.Stack); ; {
		f, more := frames.Next()
		if f.Function != "" && !plumbing(f) {
			l := p.location(frame{f.Function, f.File, f.Line})
			stack = append(stack, l)
			key += fmt.Sprint(" ", l.ID)
		}
		if !more {
			break
		}
	}
	s, ok := p.samples[key]
	if !ok {
		s = &profile.Sample{Location: stack, Value: make([]int64, len(p.p.SampleType))}
		p.samples[key] = s
		p.p.Sample = append(p.p.Sample, s)
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

func (p *Profile) location(at frame) *profile.Location {
	l, ok := p.locations[at]
	if !ok {
		f := p.function(at)
		l = &profile.Location{ID: uint64(len(p.p.Location) + 1), Mapping: p.p.Mapping[0], Line: []profile.Line{{Function: f, Line: int64(at.line)}}}
		p.locations[at] = l
		p.p.Location = append(p.p.Location, l)
	}
	return l
}

func (p *Profile) function(at frame) *profile.Function {
	at.line = 0
	f, ok := p.functions[at]
	if !ok {
		f = &profile.Function{ID: uint64(len(p.p.Function) + 1), Name: at.function, SystemName: at.function, Filename: at.file}
		p.functions[at] = f
		p.p.Function = append(p.p.Function, f)
	}
	return f
}

// Write writes the profile recorded so far in the format of go tool pprof.
func (p *Profile) Write(w io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.p.Write(w); err != nil {
		return fmt.Errorf("trace: profile: %w", err)
	}
	return nil
}
