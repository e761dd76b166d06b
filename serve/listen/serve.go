package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// Options are the limits of a server.
type Options struct {
	// Connections limits the number of connections. At the limit, new connections wait, and connections without a request are closed to
	// make room. 0 means 16,384.
	Connections int
	// Drain is how long answers may take after ctx is done.
	Drain time.Duration
	// TLS has the certificate for encrypted connections. If it is nil, connections are not encrypted.
	TLS *tls.Config
	// Draining, unless it is nil, is called when ctx is done.
	Draining func()
}

// The times that a connection may take.
const (
	forHeader  = 10 * time.Second // of a request
	forRequest = time.Minute      // handlers may allow other times
	forNext    = 2 * time.Minute  // until the next request
)

// Serve answers the requests of a listener until ctx is done. Then it closes the listener and waits at most Options.Drain for the answers
// that have begun. It cancels the contexts of the remaining answers. It returns the error of the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler, o Options) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	limited := newLimited(l, cmp.Or(o.Connections, 1<<14))
	server := &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return requests }, ConnState: limited.state, TLSConfig: o.TLS,
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
	if o.Draining != nil {
		o.Draining()
	}
	drain, end := context.WithTimeout(requests, o.Drain)
	defer end()
	err := server.Shutdown(drain)
	if err != nil {
		cancel() // ends the answers
		err = server.Close()
	}
	<-ended
	return err
}

// serve accepts connections.
func serve(s *http.Server, l net.Listener) error {
	if s.TLSConfig == nil {
		return s.Serve(l)
	}
	return s.ServeTLS(l, "", "")
}
