package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// Files is a watcher that writes a timeline and a profile to files. It writes them about once per
// second while the device is active, so that a program that never closes its device has them too,
// and when the device is closed.
type Files struct {
	timeline, profile string // file names; empty for none
	times             *Timeline
	stacks            *Profile
	written           time.Time
}

// NewFiles creates the files and returns a watcher for one device. An empty name means that the
// file is not wanted.
func NewFiles(timeline, profile string) (*Files, error) {
	f := &Files{timeline: timeline, profile: profile, times: NewTimeline(), stacks: NewProfile()}
	return f, f.write()
}

// often is the minimum time between two writes, and so the time that an abrupt end of the program
// may lose.
const often = time.Second

// Did implements device.Watcher.
func (f *Files) Did(done []device.Activity) {
	if f.timeline != "" {
		f.times.Did(done)
	}
	if f.profile != "" {
		f.stacks.Did(done)
	}
	if time.Since(f.written) > often {
		_ = f.write() // Closed tries again and returns the error
	}
}

// Closed implements device.Watcher. It writes the files.
func (f *Files) Closed() error { return f.write() }

// write replaces the files. It keeps the previous contents until the new ones are complete.
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
