package editor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
)

// ErrInterrupt is the error of a line that Ctrl-C or an interrupt ended.
var ErrInterrupt = errors.New("editor: interrupt")

// Terminated is the error of a line during which the process got a signal that ends it.
type Terminated struct{ Signal syscall.Signal }

// Error implements error.
func (t Terminated) Error() string { return fmt.Sprintf("editor: signal: %v", t.Signal) }

// An Editor reads lines from a terminal.
type Editor struct {
	in, out    *os.File
	interrupts <-chan os.Signal
	input      chan chunk
	reading    bool // input is used
	keys       keys
	history    history
}

// New returns an Editor on a terminal. From the first call of ReadLine, it reads from in all the time. If interrupts receives a signal, the
// signal ends ReadLine as Ctrl-C does.
func New(in, out *os.File, interrupts <-chan os.Signal) *Editor {
	return &Editor{in: in, out: out, interrupts: interrupts, input: make(chan chunk)}
}

// chunk is what one call of Read returned.
type chunk struct {
	data []byte
	err  error
}

// read sends what can be read, until an error.
func read(in io.Reader, to chan<- chunk) {
	for {
		data := make([]byte, 256)
		n, err := in.Read(data)
		to <- chunk{data[:n], err}
		if err != nil {
			return
		}
	}
}

// ReadLine returns the next line. The error is ErrInterrupt, a Terminated, io.EOF after Ctrl-D in an empty line, or an error of the terminal.
// In any case, also that of a panic, the mode of the terminal is restored.
func (e *Editor) ReadLine(prompt string) (line string, err error) {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(terminated)
	mode, err := term.GetState(int(e.in.Fd()))
	if err != nil {
		return "", err
	}
	s := &session{Editor: e, mode: mode, terminated: terminated, resized: time.NewTicker(sizeInterval)}
	defer s.resized.Stop()
	s.terminal = term.NewTerminal(s, prompt)
	s.terminal.History = &e.history
	defer func() {
		if failed := s.leave(); err == nil {
			err = failed
		}
		select {
		case signal := <-terminated: // which nobody has seen
			err = terminatedBy(signal)
		default:
		}
	}()
	if err := s.enter(); err != nil {
		return "", err
	}
	if !e.reading { // in the raw mode, because a console of Windows keeps the mode of a read that has begun
		e.reading = true
		go read(e.in, e.input)
	}
	s.resize()
	line, err = s.terminal.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return plain.Replace(line), err
}

// session is a call of ReadLine. It is what the Terminal reads from and writes to.
type session struct {
	*Editor
	mode       *term.State // outside ReadLine
	terminal   *term.Terminal
	terminated <-chan os.Signal
	resized    *time.Ticker
}

// Sequences that turn the marks of pasted text on and off.
const (
	pasteMarks   = "\x1b[?2004h"
	noPasteMarks = "\x1b[?2004l"
)

// enter prepares the terminal.
func (s *session) enter() error {
	console.EnableSequences(s.out)
	if _, err := term.MakeRaw(int(s.in.Fd())); err != nil {
		return err
	}
	_, err := io.WriteString(s.out, pasteMarks)
	return err
}

// leave restores the terminal.
func (s *session) leave() error {
	_, err := io.WriteString(s.out, noPasteMarks)
	return errors.Join(err, term.Restore(int(s.in.Fd()), s.mode))
}

// sizeInterval is the time between two looks at the size of the terminal.
const sizeInterval = 250 * time.Millisecond

// resize sets the size of the Terminal.
func (s *session) resize() {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width == 0 { // a terminal that does not know its size
		width = console.DefaultWidth
	}
	_ = s.terminal.SetSize(width, height) // an error of writing, which also ReadLine finds
}

// Write implements io.Writer.
func (s *session) Write(text []byte) (int, error) { return s.out.Write(text) }

// Read implements io.Reader. The Terminal unlocks its mutex while it calls Read, and again if Read panics, which ends the program at once. So
// Read then restores the mode of the terminal.
func (s *session) Read(to []byte) (int, error) {
	defer func() {
		if cause := recover(); cause != nil {
			_ = s.leave()
			panic(cause)
		}
	}()
	for {
		switch text, command := s.keys.next(len(to)); {
		case len(text) > 0:
			return copy(to, text), nil
		case command == ctrlC:
			return 0, ErrInterrupt
		case command == ctrlZ:
			if err := s.suspend(); err != nil {
				return 0, err
			}
			continue
		}
		select {
		case c := <-s.input:
			s.keys.add(c.data)
			if c.err != nil {
				return 0, c.err
			}
		case <-s.interrupts:
			s.keys.add([]byte{ctrlC})
		case signal := <-s.terminated:
			return 0, terminatedBy(signal)
		case <-s.resized.C:
			s.resize()
		}
	}
}

// suspend stops the process until the user continues it.
func (s *session) suspend() error {
	if err := s.leave(); err != nil {
		return err
	}
	stop()
	if err := s.enter(); err != nil {
		return err
	}
	_, err := s.terminal.Write(nil) // draws the line again
	return err
}

// terminatedBy returns the error of a signal.
func terminatedBy(s os.Signal) Terminated { return Terminated{s.(syscall.Signal)} }
