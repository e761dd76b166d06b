package listen

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// forRest is how long the server waits for the rest of a body that the handler has not read, before the answer and after it.
const forRest = time.Second / 2

// answer is the http.ResponseWriter of a request over HTTP/1. Package net/http discards the rest of a body before it sends the header of an
// answer, without a time limit, so a client that never sends its body would never get an answer, and hold its connection for ever. Before
// the header, answer therefore reads the rest itself. If it does not arrive in time, the answer is sent and the connection is closed.
type answer struct {
	http.ResponseWriter
	body    *rest
	expects bool // the client sends the body only when it is read
	limited bool // the handler has limited the time in which the client must read
	begun   bool
	taken   bool // the handler has taken over the connection
}

// newAnswer returns the answer to a request, and the request for the handler.
func newAnswer(w http.ResponseWriter, r *http.Request) (*answer, *http.Request) {
	a := &answer{ResponseWriter: w, expects: strings.EqualFold(r.Header.Get("Expect"), "100-continue")}
	if r.Body != nil && r.Body != http.NoBody {
		a.body = &rest{ReadCloser: r.Body}
		r = r.WithContext(r.Context())
		r.Body = a.body
	}
	return a, r
}

// begin prepares the connection for the header of the answer.
func (a *answer) begin() {
	if a.begun || a.taken {
		return
	}
	a.begun = true
	c := http.NewResponseController(a.ResponseWriter)
	if a.body != nil && !a.body.ended {
		_ = c.SetReadDeadline(time.Now().Add(forRest))
		if !a.body.failed && (a.body.read || !a.expects) {
			_, _ = io.Copy(io.Discard, a.body)
		}
		if a.body.ended {
			_ = c.SetReadDeadline(time.Time{}) // which would otherwise cancel the request
		} else {
			a.Header().Set("Connection", "close")
			_ = c.SetReadDeadline(time.Now().Add(forRest)) // a client that still sends can read the answer
		}
	}
}

// allow limits the time in which the client must read the next part of the answer.
func (a *answer) allow() {
	_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(forRequest))
}

// end prepares the connection for the last part of the answer, which package net/http sends after the handler has returned.
func (a *answer) end() {
	if a.taken {
		return
	}
	a.begin()
	a.allow()
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status >= 200 { // not one that another follows
		a.begin()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(data []byte) (int, error) {
	a.begin()
	if !a.limited {
		a.allow()
	}
	return a.ResponseWriter.Write(data)
}

// FlushError is for http.ResponseController.
func (a *answer) FlushError() error {
	a.begin()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// SetWriteDeadline is for http.ResponseController.
func (a *answer) SetWriteDeadline(t time.Time) error {
	a.limited = true
	return http.NewResponseController(a.ResponseWriter).SetWriteDeadline(t)
}

// Hijack implements http.Hijacker.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(a.ResponseWriter).Hijack()
	a.taken = err == nil
	return c, rw, err
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// rest is a body that knows how far it was read.
type rest struct {
	io.ReadCloser
	read, ended, failed bool
}

// Read implements io.Reader.
func (b *rest) Read(p []byte) (int, error) {
	b.read = true
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	b.failed = b.failed || err != nil && !b.ended
	return n, err
}
