package top

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
)

// A Terminal is the terminal on which Run shows snapshots and from which it reads keys.
type Terminal struct{ In, Out *os.File }

// sizeInterval is the time between two looks at the size of the terminal.
const sizeInterval = 250 * time.Millisecond

// Run shows snapshots that read returns, one every interval, until the user quits or ctx is done. Afterwards, a goroutine may still wait for
// a key.
func Run(ctx context.Context, read func() Snapshot, interval time.Duration, t Terminal) (err error) {
	restore, err := t.begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys, readings := make(chan string), make(chan Snapshot)
	go readKeys(ctx, t.In, keys)
	go readSnapshots(ctx, read, interval, readings)
	resized := time.NewTicker(sizeInterval)
	defer resized.Stop()
	s := screen{}
	for !s.quit {
		if s.width, s.height, err = term.GetSize(int(t.Out.Fd())); err != nil {
			return err
		}
		if _, err := io.WriteString(t.Out, s.frame()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case k := <-keys:
			s.press(k)
		case r := <-readings:
			s.show(r)
		case <-resized.C:
		}
	}
	return nil
}

// begin prepares the terminal, and returns a function that restores it.
func (t Terminal) begin() (restore func() error, err error) {
	console.EnableSequences(t.Out)
	old, err := term.MakeRaw(int(t.In.Fd()))
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(t.Out, ansi.SetModeAltScreenSaveCursor+ansi.HideCursor)
	return func() error {
		_, err := io.WriteString(t.Out, ansi.ShowCursor+ansi.ResetModeAltScreenSaveCursor)
		return errors.Join(err, term.Restore(int(t.In.Fd()), old))
	}, err
}

// readKeys sends what is read from in, usually one key at a time.
func readKeys(ctx context.Context, in io.Reader, keys chan<- string) {
	var b [64]byte
	for {
		n, err := in.Read(b[:])
		if err != nil {
			return
		}
		select {
		case keys <- string(b[:n]):
		case <-ctx.Done():
			return
		}
	}
}

// readSnapshots sends a snapshot every interval.
func readSnapshots(ctx context.Context, read func() Snapshot, interval time.Duration, readings chan<- Snapshot) {
	for {
		select {
		case readings <- read():
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return
		}
	}
}

// screen is the state of the screen.
type screen struct {
	width, height int
	shown         *Snapshot
	paused, quit  bool
	drawn         string // the last frame
}

// press handles a key, as the terminal sends it.
func (s *screen) press(key string) {
	switch key {
	case "q", "\x1b", "\x03": // Escape, Ctrl-C
		s.quit = true
	case " ":
		s.paused = !s.paused
	}
}

// show shows a snapshot, unless the screen is paused.
func (s *screen) show(r Snapshot) {
	if !s.paused || s.shown == nil {
		s.shown = &r
	}
}

// frame returns what draws the screen, or nothing if the screen shows it already.
func (s *screen) frame() string {
	text := "reading the GPUs"
	if s.shown != nil && s.width > 0 {
		text = View(*s.shown, s.width, s.height)
	}
	f := ansi.CursorHomePosition + strings.ReplaceAll(text, "\n", ansi.EraseLineRight+"\r\n") + ansi.EraseLineRight + ansi.EraseScreenBelow
	if f == s.drawn {
		return ""
	}
	s.drawn = f
	return f
}
