package main

import (
	"bufio"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/gopherwarp/gopherwarp/cmd/gopherwarp/internal/editor"
)

// lineReader reads the lines of a conversation.
type lineReader interface {
	// ReadLine returns the next line. The error is editor.ErrInterrupt, editor.Terminated, io.EOF or an error of reading.
	ReadLine(prompt string) (string, error)
}

// linesOf returns a reader of standard input, and whether it is a terminal. The user edits the lines if output is a terminal, too.
func linesOf(t terminal, interrupts <-chan os.Signal) (lineReader, bool) {
	out, ok := t.out.(*os.File)
	switch {
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return newPipe(os.Stdin, io.Discard, interrupts), false
	case !ok || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb":
		return newPipe(os.Stdin, t.out, interrupts), true
	}
	return editor.New(os.Stdin, out, interrupts), true
}

// pipe reads lines without an editor.
type pipe struct {
	out        io.Writer // for prompts
	lines      <-chan line
	interrupts <-chan os.Signal
}

// line is a line of input, or the error at its end.
type line struct {
	text string
	err  error
}

// newPipe returns a reader of in. It prints prompts to out.
func newPipe(in io.Reader, out io.Writer, interrupts <-chan os.Signal) pipe {
	lines := make(chan line)
	go func() {
		r := bufio.NewReader(in)
		for {
			text, err := r.ReadString('\n')
			if text != "" {
				lines <- line{text: strings.TrimRight(text, "\r\n")}
			}
			if err != nil {
				lines <- line{err: err}
				return
			}
		}
	}()
	return pipe{out, lines, interrupts}
}

// ReadLine implements lineReader.
func (p pipe) ReadLine(prompt string) (string, error) {
	if _, err := io.WriteString(p.out, prompt); err != nil {
		return "", err
	}
	select {
	case l := <-p.lines:
		return l.text, l.err
	case <-p.interrupts:
		return "", editor.ErrInterrupt
	}
}
