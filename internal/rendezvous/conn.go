package rendezvous

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Limits of a connection. A message has some hundred bytes, or some twenty bytes for each process
// of the job.
const (
	maxHello   = 4 << 10 // bytes of a message before the other side has proved anything
	maxMessage = 1 << 20
	maxPayload = 64 << 10
	maxWaiting = 256 // messages that the other side has not read

	writeTime = 10 * time.Second // for writing a message
	helloTime = 10 * time.Second // for the proof of a new connection
)

// Errors for which a connection is closed.
var (
	errLong = fmt.Errorf("a message is too long: %w", ErrJob)
	errSlow = errors.New("rendezvous: the other side does not read")
)

// A jsonConn is a connection for JSON messages. Sending does not wait: a goroutine writes the
// messages.
type jsonConn struct {
	conn net.Conn
	read *bufio.Reader
	done chan struct{} // closed after the last message was written, or could not be, and the connection was closed

	mu     sync.Mutex
	out    chan []byte // messages to write; closed by close
	closed bool
}

func newJSONConn(c net.Conn) *jsonConn {
	l := &jsonConn{conn: c, read: bufio.NewReader(c), done: make(chan struct{}), out: make(chan []byte, maxWaiting)}
	go l.write()
	return l
}

// send enqueues a message. It does not wait: if too many messages are pending, it closes the
// connection.
func (l *jsonConn) send(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	select {
	case l.out <- append(text, '\n'):
		return nil
	default:
		return errors.Join(errSlow, l.conn.Close())
	}
}

// write writes messages until close is called, then closes the connection.
func (l *jsonConn) write() {
	defer close(l.done)
	defer l.conn.Close()
	for text := range l.out {
		err := l.conn.SetWriteDeadline(time.Now().Add(writeTime))
		if err == nil {
			_, err = l.conn.Write(text)
		}
		if err != nil {
			_ = l.conn.Close() // so that the reader ends too, and calls close
		}
	}
}

// hear returns the next message of a process that has proved itself. If silence is not 0, hear waits no longer than that, and skips signs of life.
func (l *jsonConn) hear(silence time.Duration) (message, error) {
	for {
		if silence > 0 {
			if err := l.conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
				return message{}, err
			}
		}
		m, err := l.receive(maxMessage)
		if err != nil || !m.Alive {
			return m, err
		}
	}
}

// lives is the number of signs of life that a connection sends in the time of Options.Silence.
const lives = 4

// live sends signs of life until the connection is closed, if silence is not 0.
func (l *jsonConn) live(silence time.Duration) {
	if silence == 0 {
		return
	}
	tick := time.NewTicker(silence / lives)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if l.send(message{Alive: true}) != nil {
				return
			}
		case <-l.done:
			return
		}
	}
}

// receive returns the next message, of at most limit bytes.
func (l *jsonConn) receive(limit int) (m message, err error) {
	var text []byte
	for {
		part, err := l.read.ReadSlice('\n')
		if len(text)+len(part) > limit {
			return m, errLong
		}
		text = append(text, part...)
		if err == nil {
			if err := json.Unmarshal(text, &m); err != nil {
				return m, fmt.Errorf("%w: %w", ErrJob, err)
			}
			return m, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return m, err
		}
	}
}

// close closes the connection after the pending messages were written. It does not wait; done is
// closed afterwards.
func (l *jsonConn) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.out)
	}
}
