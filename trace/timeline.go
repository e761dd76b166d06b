package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// Timeline records activities as a timeline of the streams in the JSON format of Chrome's trace
// viewer, which Perfetto reads. A Timeline can watch several devices.
type Timeline struct {
	mu      sync.Mutex
	events  []event
	devices []*device.Device // each is a process of the timeline
	named   map[[2]int]bool  // rows that have been named
	zero    time.Time        // origin of the timeline: the first call
	flows   int
}

// NewTimeline returns an empty timeline.
func NewTimeline() *Timeline { return &Timeline{named: map[[2]int]bool{}} }

// event is an event of the trace viewer's format. Times are in microseconds.
type event struct {
	Phase    string         `json:"ph"`
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	ID       int            `json:"id,omitempty"`
	Binding  string         `json:"bp,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// Did implements device.Watcher.
func (t *Timeline) Did(done []device.Activity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range done {
		t.add(a)
	}
}

// Closed implements device.Watcher. It does nothing.
func (t *Timeline) Closed() error { return nil }

// add adds events for the call and the work of a, and a flow arrow from the call to the work.
func (t *Timeline) add(a device.Activity) {
	if t.zero.IsZero() {
		t.zero = a.Called.Add(-a.Load)
	}
	work := 2 * t.number(a.Device)
	calls := work - 1
	t.name(calls, a.Stream, a)
	t.name(work, a.Stream, a)
	t.flows++
	call := event{Phase: "X", Name: title(a), Category: "call", Process: calls, Thread: a.Stream, Time: t.at(a.Called), Duration: micro(a.Call)}
	done := event{Phase: "X", Name: title(a), Category: a.Work.String(), Process: work, Thread: a.Stream, Time: t.at(a.Begin),
		Duration: micro(a.End.Sub(a.Begin)), Args: details(a)}
	from, to := call, done
	from.Phase, from.Category, from.ID, from.Duration = "s", "flow", t.flows, 0
	to.Phase, to.Category, to.ID, to.Duration, to.Binding, to.Args = "f", "flow", t.flows, 0, "e", nil
	t.events = append(t.events, call, from, done, to)
	if a.Load > shownLoad {
		load := call
		load.Name, load.Category, load.Time, load.Duration = "load "+call.Name, "load", t.at(a.Called.Add(-a.Load)), micro(a.Load)
		t.events = append(t.events, load)
	}
}

// shownLoad is the minimum duration of a load to show. It is longer than the check that code is
// loaded.
const shownLoad = 100 * time.Microsecond

// number returns the device's number, starting at 1.
func (t *Timeline) number(d *device.Device) int {
	for i, known := range t.devices {
		if known == d {
			return i + 1
		}
	}
	t.devices = append(t.devices, d)
	return len(t.devices)
}

// name names a process and its row if they are new.
func (t *Timeline) name(process, stream int, a device.Activity) {
	if t.named[[2]int{process, stream}] {
		return
	}
	t.named[[2]int{process, stream}] = true
	what, row := a.Device.Info().Name, "stream"
	if process%2 == 1 {
		what, row = "calls for "+what, "calls for stream"
	}
	t.events = append(t.events,
		event{Phase: "M", Name: "process_name", Process: process, Args: map[string]any{"name": what}},
		event{Phase: "M", Name: "thread_name", Process: process, Thread: stream, Args: map[string]any{"name": fmt.Sprint(row, " ", stream)}})
}

// at returns a time in microseconds since the origin of the timeline.
func (t *Timeline) at(when time.Time) float64 { return micro(when.Sub(t.zero)) }

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// title returns the name of the activity's event.
func title(a device.Activity) string {
	if a.Kernel != nil {
		return a.Kernel.Name
	}
	return a.Work.String()
}

// details returns the arguments of the activity's event, which a viewer shows for the selected
// event.
func details(a device.Activity) map[string]any {
	d := map[string]any{}
	if line := caller(a.Stack); line != "" {
		d["called at"] = line
	}
	if k := a.Kernel; k != nil {
		d["kernel"] = fmt.Sprintf("%s.%s at %s:%d", k.Package, k.Name, k.File, k.Line)
		d["blocks"], d["block"] = a.Grid.Blocks.String(), a.Grid.Block.String()
	}
	if a.Bytes > 0 {
		d["bytes"] = a.Bytes
		if took := a.End.Sub(a.Begin); took > 0 {
			d["GB/s"] = float64(a.Bytes) / float64(took.Nanoseconds())
		}
	}
	return d
}

// caller returns the file and line in the program that enqueued the work.
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

// plumbing reports whether a frame belongs to package device or to a generated launcher.
func plumbing(f runtime.Frame) bool {
	return strings.HasPrefix(f.Function, "github.com/gopherwarp/gopherwarp/device.") ||
		strings.HasPrefix(f.Function, "github.com/gopherwarp/gopherwarp/device/driver.") ||
		strings.HasPrefix(filepath.Base(f.File), "zkernels")
}

// Write writes the timeline recorded so far.
func (t *Timeline) Write(w io.Writer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := bufio.NewWriter(w)
	before := "[\n"
	for _, e := range t.events {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("trace: timeline: %w", err)
		}
		out.WriteString(before)
		out.Write(line)
		before = ",\n"
	}
	if len(t.events) == 0 {
		out.WriteString("[")
	}
	out.WriteString("\n]\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("trace: timeline: %w", err)
	}
	return nil
}
