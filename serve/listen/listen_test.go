package listen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// start serves a handler, and returns the address and a function that ends the server.
func start(t *testing.T, h http.HandlerFunc, o Options) (string, func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, h, o) }()
	return l.Addr().String(), func() error { cancel(); return <-ended }
}

// dial opens a connection, which the end of the test closes.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ask sends a request, and returns the error of the answer.
func ask(c net.Conn) error {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(a.Body)
	if err == nil && string(text) != "fine" {
		err = fmt.Errorf("got %q", text)
	}
	return err
}

// gone reports whether the server has closed a connection.
func gone(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF) || err != nil && strings.Contains(err.Error(), "reset")
}

func fine(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") }

// Clients that send nothing do not keep others out: those that have waited longest for a request are closed.
// The test counts goroutines, so no other one runs beside it.
func TestIdle(t *testing.T) {
	before := runtime.NumGoroutine()
	address, stop := start(t, fine, Options{Connections: 4, Drain: time.Minute})
	used := dial(t, address)
	if err := ask(used); err != nil {
		t.Fatal(err)
	}
	silent := make([]net.Conn, 6)
	for i := range silent {
		silent[i] = dial(t, address)
	}
	last := dial(t, address)
	if err := ask(last); err != nil {
		t.Error(err)
	}
	if !gone(used) || !gone(silent[0]) || !gone(silent[2]) {
		t.Error("the connections that have waited longest are open")
	}
	if err := ask(last); err != nil {
		t.Errorf("again: %v", err)
	}
	for _, c := range silent { // the server waits some seconds for the first request of a connection
		c.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// Connections with requests keep their places, and others wait.
func TestBusy(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan bool, 9), make(chan bool)
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- true
		<-leave
		fine(w, r)
	}, Options{Connections: 2, Drain: time.Minute})
	answers := make(chan error, 5)
	for range 5 {
		c := dial(t, address)
		go func() { answers <- ask(c) }()
	}
	<-entered
	<-entered
	select {
	case <-entered:
		t.Error("a third request is answered")
	case <-time.After(50 * time.Millisecond):
	}
	for range 5 {
		leave <- true
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// After the end, answers that have begun end, and others are refused, also while a connection waits for a place.
func TestDrain(t *testing.T) {
	t.Parallel()
	entered, leave, draining := make(chan bool), make(chan bool), make(chan bool)
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- true
		<-leave
		fine(w, r)
	}, Options{Connections: 1, Drain: time.Minute, Draining: func() { close(draining) }})
	c, waits := dial(t, address), dial(t, address)
	answer, ended := make(chan error), make(chan error)
	go func() { answer <- ask(c) }()
	<-entered
	go func() { ended <- stop() }()
	<-draining
	if !gone(waits) {
		t.Error("a connection without a place is open")
	}
	close(leave)
	if err := errors.Join(<-answer, <-ended); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("the listener is open")
	}
}

// For Options.Delay after the end, the server accepts connections and requests, and its answers close their connections.
func TestDelay(t *testing.T) {
	t.Parallel()
	const delay = 2 * time.Second // also a busy machine answers some requests in half of it
	ending := make(chan (<-chan struct{}), 9)
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		ending <- Ending(r.Context())
		fine(w, r)
	}, Options{Delay: delay, Drain: time.Minute})
	c := dial(t, address)
	if err := ask(c); err != nil {
		t.Fatal(err)
	}
	began, ended := time.Now(), make(chan error)
	go func() { ended <- stop() }()
	for time.Since(began) < delay/2 { // until the server closes the connection, and then with others
		if err := ask(c); err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		over := <-ending
		select {
		case <-over:
			t.Fatal("Ending is closed while the listener is open")
		default:
		}
		if closed(c) {
			break
		}
	}
	if !closed(c) {
		t.Errorf("the connection is open after %v", time.Since(began))
	}
	if err := ask(dial(t, address)); err != nil {
		t.Errorf("a new connection: %v", err)
	}
	if err := <-ended; err != nil || time.Since(began) < delay {
		t.Errorf("ended after %v, %v", time.Since(began), err)
	}
	for len(ending) > 0 {
		if c := <-ending; c == nil {
			t.Error("a request has no Ending")
		} else {
			<-c
		}
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("the listener is open")
	}
}

// closed reports whether the server closes a connection within some milliseconds.
func closed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	_, err := c.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// Answers that take too long after the end are canceled.
func TestDrainTooLong(t *testing.T) {
	t.Parallel()
	entered, canceled := make(chan bool), make(chan error, 1)
	address, stop := start(t, func(_ http.ResponseWriter, r *http.Request) {
		entered <- true
		<-r.Context().Done()
		canceled <- context.Cause(r.Context())
	}, Options{Drain: time.Millisecond})
	c := dial(t, address)
	go func() { _ = ask(c) }()
	<-entered
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := <-canceled; !errors.Is(err, ErrEnded) {
		t.Errorf("the context of the request is canceled by %v", err)
	}
}

// An answer that is canceled has time to tell its client, but not for ever.
func TestDrainLastPart(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan bool), make(chan bool)
	defer close(leave)
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun, ")
		_ = http.NewResponseController(w).Flush()
		entered <- true
		<-r.Context().Done()
		if r.URL.Path == "/stuck" {
			<-leave
		}
		time.Sleep(20 * time.Millisecond)
		_, _ = io.WriteString(w, "canceled")
	}, Options{Drain: time.Millisecond})
	answer := make(chan string, 2)
	for _, path := range []string{"", "/stuck"} {
		go func() {
			a, err := http.Get("http://" + address + path)
			if err != nil {
				answer <- err.Error()
				return
			}
			defer a.Body.Close()
			text, err := io.ReadAll(a.Body)
			answer <- fmt.Sprint(path, string(text), err)
		}()
		<-entered
	}
	began := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the end takes %v", took)
	}
	if got := <-answer; got != "begun, canceled<nil>" {
		t.Errorf("the answer that is canceled: %s", got)
	}
	if got := <-answer; got != "/stuckbegun, unexpected EOF" {
		t.Errorf("the answer that does not end: %s", got)
	}
}

// Connections of HTTP/2 without TLS are idle between requests.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	address, stop := start(t, fine, Options{Connections: 1, Drain: time.Minute})
	for range 2 { // the second connection gets the place of the first
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		defer transport.CloseIdleConnections()
		a, err := (&http.Client{Transport: transport}).Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		if err = errors.Join(err, a.Body.Close()); err != nil || a.ProtoMajor != 2 || string(text) != "fine" {
			t.Errorf("%v, %s %q", err, a.Proto, text)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A handler that has taken over its connection learns of the end, and has time for its answer.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	taken, returned := make(chan struct{}), false
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		close(taken)
		<-Ending(r.Context())
		time.Sleep(50 * time.Millisecond)
		_, _ = io.WriteString(c, "the end")
		returned = true
	}, Options{Drain: time.Minute})
	c := dial(t, address)
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-taken
	if err := stop(); err != nil || !returned {
		t.Errorf("Serve returns %v before the handler", err)
	}
	if text, err := io.ReadAll(c); err != nil || string(text) != "the end" {
		t.Errorf("got %q, %v", text, err)
	}
	if Ending(t.Context()) != nil {
		t.Error("a context that is not that of a request has an end")
	}
}

// A handler that has taken over its connection and does not return is cancelled when the time is over.
func TestTakenOverTooLong(t *testing.T) {
	t.Parallel()
	taken, cancelled := make(chan struct{}), make(chan struct{})
	address, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		close(taken)
		<-r.Context().Done()
		close(cancelled)
	}, Options{Drain: 10 * time.Millisecond})
	c := dial(t, address)
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-taken
	if err := stop(); err != nil {
		t.Error(err)
	}
	<-cancelled
}
