package listen

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// patience is how long a connection without a request keeps its place while others wait.
const patience = time.Second

// limited is a listener that has at most a number of connections, and one more that waits for a place. The operating system lets others
// wait. While a connection waits, those that have had no request for some time give up their places, first the one with the longest time.
type limited struct {
	net.Listener
	most     int
	patience time.Duration
	mu       sync.Mutex
	free     *sync.Cond // signals that taken or closed has changed, or that a connection may be out of patience
	taken    int
	idle     list.List // of *placed: connections without a request, in the order of since
	closed   bool
}

// newLimited limits the connections of a listener.
func newLimited(l net.Listener, most int) *limited {
	x := &limited{Listener: l, most: most, patience: patience}
	x.free = sync.NewCond(&x.mu)
	return x
}

// Accept waits for a connection, and then for its place.
func (l *limited) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.take() {
		_ = c.Close() // nobody has used it
		return nil, net.ErrClosed
	}
	return &placed{Conn: c, of: l}, nil
}

// take waits for a place. It reports false if the listener is closed.
func (l *limited) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.taken >= l.most && !l.closed {
		c, after := l.oldest()
		if c != nil && after <= 0 {
			l.leave(c)
			go c.Conn.Close() // which can take time
			continue
		}
		timer := time.AfterFunc(after, l.wake)
		l.free.Wait()
		timer.Stop()
	}
	if l.closed {
		return false
	}
	l.taken++
	return true
}

// oldest returns the connection that has had no request for the longest time, or nil, and when it gives up its place. The caller has the
// lock.
func (l *limited) oldest() (*placed, time.Duration) {
	front := l.idle.Front()
	if front == nil {
		return nil, l.patience
	}
	c := front.Value.(*placed)
	return c, l.patience - time.Since(c.since)
}

// wake makes take look again.
func (l *limited) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free.Signal()
}

// Close ends Accept.
func (l *limited) Close() error {
	l.mu.Lock()
	l.closed = true
	l.free.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// state is called by the server when the state of a connection changes.
func (l *limited) state(c net.Conn, s http.ConnState) {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	p := c.(*placed)
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.idle != nil {
		l.idle.Remove(p.idle)
		p.idle = nil
	}
	if (s == http.StateNew || s == http.StateIdle) && !p.left {
		p.idle, p.since = l.idle.PushBack(p), time.Now()
	}
}

// leave frees the place of a connection. The caller has the lock.
func (l *limited) leave(c *placed) {
	if c.left {
		return
	}
	c.left = true
	l.taken--
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
	l.free.Signal()
}

// placed is a connection that has a place until it leaves. The listener's mutex protects the last fields.
type placed struct {
	net.Conn
	of    *limited
	idle  *list.Element // of the list, or nil
	since time.Time     // when it got there
	left  bool
}

// Close frees the place.
func (c *placed) Close() error {
	c.of.mu.Lock()
	c.of.leave(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
