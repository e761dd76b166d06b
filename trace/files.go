package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// Files is a watcher that writes a timeline and a profile to files, each where its name is not
// empty: at the end, and now and then before, so that a program that never closes its device has
// them too.
type Files struct {
	timeline, profile string // their names
	times             *Timeline
	stacks            *Profile
	written           time.Time
}

// NewFiles returns a watcher for one device, after it has created the files.
func NewFiles(timeline, profile string) (*Files, error) {
	f := &Files{timeline: timeline, profile: profile, times: NewTimeline(), stacks: NewProfile()}
	return f, f.write()
}

// often is the time between two writings: what an abrupt end of the program may lose.
const often = time.Second

// Did is called by a watched device.
func (f *Files) Did(done []device.Activity) {
	if f.timeline != "" {
		f.times.Did(done)
	}
	if f.profile != "" {
		f.stacks.Did(done)
	}
	if time.Since(f.written) > often {
		_ = f.write() // Closed tries again, and tells
	}
}

// Closed is called by a watched device.
func (f *Files) Closed() error { return f.write() }

// write replaces the files. What was there is lost only once the new contents are complete.
func (f *Files) write() error {
	err := errors.Join(replace(f.timeline, f.times.Write), replace(f.profile, f.stacks.Write))
	f.written = time.Now()
	return err
}

func replace(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	out, err := os.Create(name + ".new")
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if err := errors.Join(write(out), out.Close()); err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	if err := os.Rename(out.Name(), name); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}
