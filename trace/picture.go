package trace

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// picture turns activities into the events of a timeline. It keeps no events.
type picture struct {
	devices []*device.Device // each is two processes of the timeline: calls, and work
	named   map[[2]int]bool  // the rows that have a name
	zero    time.Time        // of the timeline: the first call
	flows   int
}

func newPicture() picture { return picture{named: map[[2]int]bool{}} }

// event is one of the trace viewer's: times in microseconds.
type event struct {
	Phase    string  `json:"ph"`
	Name     string  `json:"name"`
	Category string  `json:"cat,omitempty"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
	Time     float64 `json:"ts"`
	Duration float64 `json:"dur,omitempty"`
	ID       int     `json:"id,omitempty"`
	Binding  string  `json:"bp,omitempty"`
	Args     *args   `json:"args,omitempty"`
}

// args is what a viewer shows of an event that is clicked on, or the name of a process or a row.
type args struct {
	Name   string  `json:"name,omitempty"`
	Called string  `json:"called at,omitempty"`
	Kernel string  `json:"kernel,omitempty"`
	Blocks string  `json:"blocks,omitempty"`
	Block  string  `json:"block,omitempty"`
	Bytes  int     `json:"bytes,omitempty"`
	Rate   float64 `json:"GB/s,omitempty"`
}

// shownLoad is longer than it takes to find out that code is loaded.
const shownLoad = 100 * time.Microsecond

// appendTo appends the call and the work of a, and an arrow from one to the other.
func (p *picture) appendTo(events []event, a device.Activity) []event {
	if p.zero.IsZero() {
		p.zero = a.Called.Add(-a.Load)
	}
	work := 2 * p.number(a.Device)
	calls := work - 1
	events = p.appendNames(events, calls, a)
	events = p.appendNames(events, work, a)
	p.flows++
	call := event{Phase: "X", Name: title(a), Category: "call", Process: calls, Thread: a.Stream, Time: p.at(a.Called), Duration: micro(a.Call)}
	done := event{Phase: "X", Name: title(a), Category: a.Work.String(), Process: work, Thread: a.Stream, Time: p.at(a.Begin),
		Duration: micro(a.End.Sub(a.Begin)), Args: details(a)}
	from, to := call, done
	from.Phase, from.Category, from.ID, from.Duration = "s", "flow", p.flows, 0
	to.Phase, to.Category, to.ID, to.Duration, to.Binding, to.Args = "f", "flow", p.flows, 0, "e", nil
	events = append(events, call, from, done, to)
	if a.Load > shownLoad {
		load := call
		load.Name, load.Category, load.Time, load.Duration = "load "+call.Name, "load", p.at(a.Called.Add(-a.Load)), micro(a.Load)
		events = append(events, load)
	}
	return events
}

// number returns the device's number, from 1.
func (p *picture) number(d *device.Device) int {
	for i, known := range p.devices {
		if known == d {
			return i + 1
		}
	}
	p.devices = append(p.devices, d)
	return len(p.devices)
}

// appendNames appends the names of a process and of the row of the activity's stream, where the row is new.
func (p *picture) appendNames(events []event, process int, a device.Activity) []event {
	if p.named[[2]int{process, a.Stream}] {
		return events
	}
	p.named[[2]int{process, a.Stream}] = true
	what, row := a.Device.Info().Name, "stream"
	if process%2 == 1 {
		what, row = "calls for "+what, "calls for stream"
	}
	return append(events,
		event{Phase: "M", Name: "process_name", Process: process, Args: &args{Name: what}},
		event{Phase: "M", Name: "thread_name", Process: process, Thread: a.Stream, Args: &args{Name: fmt.Sprint(row, " ", a.Stream)}})
}

// at returns a time of the timeline.
func (p *picture) at(when time.Time) float64 { return micro(when.Sub(p.zero)) }

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// title returns the name under which the timeline shows the activity.
func title(a device.Activity) string {
	if a.Kernel != nil {
		return a.Kernel.Name
	}
	return a.Work.String()
}

func details(a device.Activity) *args {
	d := &args{Called: caller(a.Stack), Bytes: a.Bytes}
	if k := a.Kernel; k != nil {
		d.Kernel = fmt.Sprintf("%s.%s at %s:%d", k.Package, k.Name, k.File, k.Line)
		d.Blocks, d.Block = a.Grid.Blocks.String(), a.Grid.Block.String()
	}
	if took := a.End.Sub(a.Begin); a.Bytes > 0 && took > 0 {
		d.Rate = float64(a.Bytes) / float64(took.Nanoseconds())
	}
	return d
}

// caller returns the file and line of the program's call that enqueued the work.
func caller(stack []uintptr) string {
	for frames := runtime.CallersFrames(stack); ; {
		f, more := frames.Next()
		if f.File != "" && !plumbing(f) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// plumbing reports whether a frame is package device's or a generated launcher.
func plumbing(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, "github.com/gopherwarp/gopherwarp/device.") ||
		strings.HasPrefix(f.Function, "github.com/gopherwarp/gopherwarp/device/driver.") ||
		strings.HasPrefix(filepath.Base(f.File), "zkernels")
}
