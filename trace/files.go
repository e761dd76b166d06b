package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// Files is a watcher that writes a timeline and a profile to files: about once per second while the
// device is active, and when the device is closed. Each time, it appends to the timeline and
// replaces the profile. So the files are useful even if the program never closes its device.
type Files struct {
	timeline *timelineFile // nil for none
	profile  string        // file name; empty for none
	stacks   *Profile
	written  time.Time
}

// NewFiles creates the files and returns a watcher for one device. If a name is empty, that file is not written.
// NewFiles replaces existing files. If a name is a symbolic link, NewFiles replaces the link, not the file that the
// link points to.
func NewFiles(timeline, profile string) (*Files, error) {
	f := &Files{profile: profile, stacks: NewProfile(), written: time.Now()}
	var err error
	if timeline != "" {
		f.timeline, err = newTimelineFile(timeline)
	}
	return f, errors.Join(err, f.replaceProfile())
}

// often is the minimum time between two writes, and so the time that an abrupt end of the program
// may lose.
const often = time.Second

// Did implements device.Watcher.
func (f *Files) Did(done []device.Activity) {
	if f.timeline != nil {
		f.timeline.add(done)
	}
	if f.profile != "" {
		f.stacks.Did(done)
	}
	if time.Since(f.written) > often {
		if f.timeline != nil {
			f.timeline.flush()
		}
		_ = f.replaceProfile() // Closed tries again and returns the error
		f.written = time.Now()
	}
}

// Closed implements device.Watcher. It writes the files.
func (f *Files) Closed() error {
	var err error
	if f.timeline != nil {
		err = f.timeline.close()
	}
	return errors.Join(err, f.replaceProfile())
}

// replaceProfile replaces the profile. What was there is lost only once the new one is complete.
func (f *Files) replaceProfile() error {
	if f.profile == "" {
		return nil
	}
	out, err := createBeside(f.profile)
	if err != nil {
		return err
	}
	err = errors.Join(f.stacks.Write(out), out.Close())
	return putInPlace(out, f.profile, err)
}

// timelineFile is a timeline that is written as it grows. Between two flushes the file holds the whole of an
// earlier timeline.
type timelineFile struct {
	picture picture
	events  []event // used again for each batch
	buffer  bytes.Buffer
	lines   lines // that go to buffer
	out     *os.File
	at      int64 // where the next event goes in out: over the end of the array
	err     error // the first
}

// flushBytes bounds the buffer.
const flushBytes = 1 << 20

func newTimelineFile(name string) (*timelineFile, error) {
	out, err := createBeside(name)
	if err != nil {
		return nil, err
	}
	f := &timelineFile{picture: newPicture(), out: out}
	f.lines.w = &f.buffer
	f.flush()
	made, err := out.Stat()
	if err := putInPlace(out, name, errors.Join(f.err, err, out.Close())); err != nil {
		return nil, err
	}
	f.out, err = reopen(name, made)
	return f, err
}

// reopen opens a file that was put in place: Windows renames none that is open.
func reopen(name string, made fs.FileInfo) (*os.File, error) {
	out, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, about(name, err)
	}
	if is, err := out.Stat(); err != nil || !os.SameFile(is, made) {
		return nil, errors.Join(fmt.Errorf("trace: %s was replaced by another program: %w", name, fs.ErrExist), err, out.Close())
	}
	return out, nil
}

func (f *timelineFile) add(done []device.Activity) {
	for _, a := range done {
		f.events = f.picture.appendTo(f.events[:0], a)
		f.keep(f.lines.write(f.events))
		if f.buffer.Len() > flushBytes {
			f.flush()
		}
	}
}

// flush writes the events that have come since the last flush, and the end of the array.
func (f *timelineFile) flush() {
	events := f.buffer.Len()
	f.buffer.WriteString(f.lines.end())
	if f.err == nil {
		_, err := f.out.WriteAt(f.buffer.Bytes(), f.at)
		f.keep(err)
		f.at += int64(events)
	}
	f.buffer.Reset()
}

func (f *timelineFile) keep(err error) {
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("trace: timeline: %w", err)
	}
}

func (f *timelineFile) close() error {
	f.flush()
	f.keep(f.out.Close())
	return f.err
}

// createBeside creates a file for what is to stand at name, in the same folder. Nobody else can have made
// the file before, or a link of its name.
func createBeside(name string) (*os.File, error) {
	for {
		beside := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%016x", filepath.Base(name), rand.Uint64()))
		out, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, about(name, err)
		}
		return out, nil
	}
}

// putInPlace gives a file that createBeside has made its name, unless writing it failed.
func putInPlace(out *os.File, name string, failed error) error {
	if failed == nil {
		failed = os.Rename(out.Name(), name)
	}
	if failed == nil {
		return nil
	}
	return errors.Join(about(name, failed), os.Remove(out.Name()))
}

// about returns an error with the name that the user knows instead of one of this package's.
func about(name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("trace: %s: %w", name, err)
}
