package main

import (
	"net"
	"sync"
)

// limited is a listener that has at most a number of connections. The operating system lets others wait.
type limited struct {
	net.Listener
	places chan struct{} // has an element for each connection
	closed chan struct{}
	once   *sync.Once
}

// newLimited limits the connections of a listener.
func newLimited(l net.Listener, most int) limited {
	return limited{l, make(chan struct{}, most), make(chan struct{}), new(sync.Once)}
}

// Accept waits for a place, and then for a connection.
func (l limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close ends Accept.
func (l limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// placed is a connection that has a place.
type placed struct {
	net.Conn
	leave func()
}

// Close frees the place.
func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
