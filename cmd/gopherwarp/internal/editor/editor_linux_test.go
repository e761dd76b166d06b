package editor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// screen is the side of a pseudoterminal that a person sees and types on.
type screen struct {
	*os.File
	mu    sync.Mutex
	shown bytes.Buffer
}

// openTerminal returns a pseudoterminal of a number of columns.
func openTerminal(t *testing.T, columns uint16) (terminal *os.File, s *screen) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s = &screen{File: master}
	go func() {
		data := make([]byte, 4096)
		for {
			n, err := master.Read(data)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.shown.Write(data[:n])
			s.mu.Unlock()
		}
	}()
	return terminal, s
}

// until waits until the screen has shown a text since the last call, and forgets what it has shown.
func (s *screen) until(t *testing.T, text string) {
	t.Helper()
	for range 3000 {
		s.mu.Lock()
		found := strings.Contains(s.shown.String(), text)
		if found {
			s.shown.Reset()
		}
		s.mu.Unlock()
		if found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the screen does not show %q, but %q", text, s.shown.String())
}

// modeOf returns the mode of a terminal.
func modeOf(t *testing.T, terminal *os.File) unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *mode
}

// TestReadLine types lines, and ends others. The mode of the terminal is the same after each line as before.
func TestReadLine(t *testing.T) {
	for _, columns := range []uint16{0, 3, 80} {
		terminal, s := openTerminal(t, columns)
		before := modeOf(t, terminal)
		interrupts := make(chan os.Signal, 1)
		e := New(terminal, terminal, interrupts)
		for _, c := range []struct {
			typed  string
			signal syscall.Signal // after the keys
			want   string
			err    error
		}{
			{typed: "world\x01Hello \x1b[Cx\x7f\r", want: "Hello world"},
			{typed: "\r", want: ""},
			{typed: "ab\x1b[D\x1b[D\x04c\x1b[A\x1b[F!\r", want: "Hello world!"},
			{typed: "\x1b[A\x1b[A\x1b[B\r", want: "Hello world!"},
			{typed: "Explain:\x1b[200~\na\r\n\tb\n\x1b[201~\r", want: "Explain:\na\n\tb\n"},
			{typed: strings.Repeat("long ", 30) + "\r", want: strings.Repeat("long ", 30)},
			{typed: "abc\x03", err: ErrInterrupt},
			{typed: "x", signal: syscall.SIGINT, err: ErrInterrupt},
			{typed: "x", signal: syscall.SIGTERM, err: Terminated{syscall.SIGTERM}},
			{typed: "ok\r", want: "ok"},
			{typed: "\x04", err: io.EOF},
		} {
			type result struct {
				line string
				err  error
			}
			done := make(chan result)
			go func() {
				line, err := e.ReadLine("> ")
				done <- result{line, err}
			}()
			s.until(t, "> ")
			if modeOf(t, terminal) == before {
				t.Errorf("%d columns, %q: the mode is not raw", columns, c.typed)
			}
			if _, err := io.WriteString(s, c.typed); err != nil {
				t.Fatal(err)
			}
			if c.signal != 0 { // what comes after it belongs to the next line
				s.until(t, c.typed)
			}
			switch c.signal {
			case syscall.SIGINT:
				interrupts <- c.signal
			case syscall.SIGTERM:
				if err := syscall.Kill(os.Getpid(), c.signal); err != nil {
					t.Fatal(err)
				}
			}
			got := <-done
			if c.err == nil && got.line != c.want || !errors.Is(got.err, c.err) {
				t.Errorf("%d columns, %q: %q, %v, want %q, %v", columns, c.typed, got.line, got.err, c.want, c.err)
			}
			if modeOf(t, terminal) != before {
				t.Errorf("%d columns, %q: the mode of the terminal has changed", columns, c.typed)
			}
			s.until(t, noPasteMarks)
		}
	}
}

// TestPanic panics while a line is edited, which also restores the mode of the terminal.
func TestPanic(t *testing.T) {
	terminal, _ := openTerminal(t, 80)
	before := modeOf(t, terminal)
	mode, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{Editor: New(terminal, terminal, nil), mode: mode} // without a ticker
	if err := s.enter(); err != nil {
		t.Fatal(err)
	}
	if modeOf(t, terminal) == before {
		t.Error("the mode is not raw")
	}
	defer func() {
		if recover() == nil || modeOf(t, terminal) != before {
			t.Error("no panic, or the mode of the terminal has changed")
		}
	}()
	_, _ = s.Read(make([]byte, 1))
}
