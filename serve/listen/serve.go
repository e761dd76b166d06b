package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the limits of a server.
type Options struct {
	// Connections limits the number of connections. At the limit, new connections wait, and connections without a request are closed to
	// make room. 0 means 16,384.
	Connections int
	// Delay is how long the server still accepts connections and requests after ctx is done, so that load balancers can stop sending
	// requests. Answers in this time tell the client to close its connection.
	Delay time.Duration
	// Drain is how long answers may take after Delay.
	Drain time.Duration
	// TLS has the certificate for encrypted connections. If it is nil, connections are not encrypted.
	TLS *tls.Config
	// Draining, unless it is nil, is called when ctx is done and Delay has passed.
	Draining func()
}

// The times that a connection may take.
const (
	forHeader  = 10 * time.Second // of a request
	forRequest = time.Minute      // handlers may allow other times
	forNext    = 2 * time.Minute  // until the next request
	forLast    = time.Second / 2  // of an answer that takes longer than Options.Drain: its last part, which says that it is not complete
)

// If a request takes longer than Options.Drain, its context is canceled with the cause ErrEnded (see context.Cause). If the client has left, the
// cause is context.Canceled.
var ErrEnded = errors.New("listen: the server has ended")

// ending is the key of a context's value: a channel.
type ending struct{}

// Ending returns a channel that is closed when the server closes its listener. If ctx is not the context of a request that Serve
// answers, Ending returns nil. A handler that has hijacked its connection should return soon after the channel is closed.
func Ending(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(ending{}).(<-chan struct{})
	return c
}

// counted counts the requests of a handler, which for a connection that the handler has taken over the server does not.
type counted struct {
	http.Handler
	running sync.WaitGroup
	last    atomic.Bool // connections close after their next answer
}

// ServeHTTP implements http.Handler.
func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.running.Add(1)
	defer c.running.Done()
	if c.last.Load() {
		w.Header().Set("Connection", "close")
	}
	if r.ProtoMajor != 1 { // the streams of a connection do not wait for each other
		c.Handler.ServeHTTP(w, r)
		return
	}
	a, r := newAnswer(w, r)
	c.Handler.ServeHTTP(a, r)
	a.end()
}

// wait waits until no requests are running, or until ctx is done. No request may begin.
func (c *counted) wait(ctx context.Context) error {
	none := make(chan struct{})
	go func() {
		c.running.Wait()
		close(none)
	}()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Serve answers the requests of a listener until ctx is done, and for Options.Delay longer. Then it closes the listener, waits at most Options.Drain
// for the answers in progress, and cancels the contexts of requests that are still not answered. It returns the error of the listener,
// or nil if there is none.
func Serve(ctx context.Context, l net.Listener, h http.Handler, o Options) error {
	over := make(chan struct{})
	requests, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), ending{}, (<-chan struct{})(over)))
	defer cancel(nil)
	counted := &counted{Handler: h}
	connections := cmp.Or(o.Connections, 1<<14)
	reserve(l, connections)
	limited := newLimited(l, connections)
	server := &http.Server{
		Handler: counted, BaseContext: func(net.Listener) context.Context { return requests }, ConnState: limited.state, TLSConfig: o.TLS,
		ReadHeaderTimeout: forHeader, ReadTimeout: forRequest, IdleTimeout: forNext, MaxHeaderBytes: 16 << 10,
	}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true) // which gRPC uses
	ended := make(chan error, 1)
	go func() { ended <- serve(server, limited) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	counted.last.Store(true)
	if o.Delay > 0 {
		select {
		case err := <-ended:
			return err
		case <-time.After(o.Delay):
		}
	}
	close(over)
	if o.Draining != nil {
		o.Draining()
	}
	drain, end := context.WithTimeout(requests, o.Drain)
	defer end()
	err := shutDown(drain, server, counted)
	if err != nil {
		cancel(ErrEnded) // ends the answers
		last, end := context.WithTimeout(context.WithoutCancel(ctx), forLast)
		defer end()
		_ = shutDown(last, server, counted)
		err = server.Close()
	}
	<-ended
	return err
}

// shutDown closes the listener and waits until no requests are running, or until ctx is done.
func shutDown(ctx context.Context, s *http.Server, c *counted) error {
	if err := s.Shutdown(ctx); err != nil {
		return err
	}
	return c.wait(ctx)
}

// serve accepts connections.
func serve(s *http.Server, l net.Listener) error {
	if s.TLSConfig == nil {
		return s.Serve(l)
	}
	return s.ServeTLS(l, "", "")
}
