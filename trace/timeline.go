package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
)

// Timeline records activities as a timeline of the streams, in the JSON format of Chrome's trace
// viewer, which Perfetto reads. A Timeline can watch several devices. A Timeline takes about 2 kB
// of memory for each activity. Files does not need this memory, because it writes the timeline while
// the program runs.
type Timeline struct {
	mu      sync.Mutex
	picture picture
	events  []event
}

// NewTimeline returns an empty timeline.
func NewTimeline() *Timeline { return &Timeline{picture: newPicture()} }

// Did implements device.Watcher.
func (t *Timeline) Did(done []device.Activity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range done {
		t.events = t.picture.appendTo(t.events, a)
	}
}

// Closed implements device.Watcher.
func (t *Timeline) Closed() error { return nil }

// Write writes the timeline recorded so far.
func (t *Timeline) Write(w io.Writer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := bufio.NewWriter(w)
	lines := lines{w: out}
	err := lines.write(t.events)
	if err == nil {
		_, err = out.WriteString(lines.end())
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("trace: timeline: %w", err)
	}
	return nil
}

// lines writes events as the elements of a JSON array, a line each.
type lines struct {
	w     io.Writer
	begun bool
}

// write writes events. The array lacks its end.
func (l *lines) write(events []event) error {
	for i := range events {
		text, err := json.Marshal(&events[i])
		if err != nil {
			return err
		}
		separator := ",\n"
		if !l.begun {
			separator, l.begun = "[\n", true
		}
		if _, err := io.WriteString(l.w, separator); err != nil {
			return err
		}
		if _, err := l.w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// end returns what ends the array.
func (l *lines) end() string {
	if !l.begun {
		return "[\n]\n"
	}
	return "\n]\n"
}
