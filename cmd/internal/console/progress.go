package console

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// patience is the time after which progress is shown, and interval the time between two lines.
const (
	patience = time.Second
	interval = 200 * time.Millisecond
)

// Progress shows on a terminal what a command is doing, in one line that is rewritten in place. It appears
// after a second. A nil *Progress shows nothing.
type Progress struct {
	w     io.Writer
	width int

	mutex sync.Mutex
	text  string

	stop, stopped chan struct{}
}

// StartProgress returns a Progress on w, or nil if w is not a terminal.
func StartProgress(w io.Writer) *Progress {
	width := size(w)
	if width == 0 {
		return nil
	}
	p := &Progress{w: w, width: width, stop: make(chan struct{}), stopped: make(chan struct{})}
	go p.run(time.After(patience))
	return p
}

// Show sets the text of the line. Several goroutines may call it.
func (p *Progress) Show(format string, args ...any) {
	if p == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.text = fmt.Sprintf(format, args...)
}

// Stop removes the line. Nothing may be written to the terminal before Stop has returned. It may be called once.
func (p *Progress) Stop() {
	if p == nil {
		return
	}
	close(p.stop)
	<-p.stopped
}

// run writes the line, from the moment that begin has a value until Stop.
func (p *Progress) run(begin <-chan time.Time) {
	defer close(p.stopped)
	select {
	case <-p.stop:
		return
	case <-begin:
	}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		p.mutex.Lock()
		text := p.text
		p.mutex.Unlock()
		fmt.Fprintf(p.w, "\r%s\x1b[K", clip(text, p.width-1))
		select {
		case <-p.stop:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-ticks.C:
		}
	}
}

// clip returns the beginning of text that fits into width columns.
func clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(width, 0)])
}
