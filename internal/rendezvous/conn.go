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

// Limits of a connection. A message has some hundred bytes, or some twenty for each process of the job.
const (
	maxHello   = 4 << 10 // bytes of a message of somebody who has proved nothing
	maxMessage = 1 << 20
	maxPayload = 64 << 10
	maxWaiting = 256 // messages that the other side has not read

	writeTime = 10 * time.Second // for a message
	helloTime = 10 * time.Second // for the proof of a process that has connected
)

// Errors of a connection that is given up.
var (
	errLong = fmt.Errorf("a message is too long: %w", ErrJob)
	errSlow = errors.New("rendezvous: the other side does not read")
)

// A jsonConn is a connection that JSON messages are sent on without waiting: a goroutine writes them.
type jsonConn struct {
	conn net.Conn
	read *bufio.Reader
	done chan struct{} // closed when all that can be written was, and the connection is closed

	mu     sync.Mutex
	out    chan []byte // messages to write; closed by close
	closed bool
}

func newJSONConn(c net.Conn) *jsonConn {
	l := &jsonConn{conn: c, read: bufio.NewReader(c), done: make(chan struct{}), out: make(chan []byte, maxWaiting)}
	go l.write()
	return l
}

// send has a message written. It does not wait: a connection on which too many messages wait is closed.
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

// write writes messages until close, then closes the connection.
func (l *jsonConn) write() {
	defer close(l.done)
	defer l.conn.Close()
	for text := range l.out {
		err := l.conn.SetWriteDeadline(time.Now().Add(writeTime))
		if err == nil {
			_, err = l.conn.Write(text)
		}
		if err != nil {
			_ = l.conn.Close() // so that the reader ends too, and closes the line
		}
	}
}

// receive returns the next message, which has at most limit bytes.
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

// close closes the connection when what was sent is written. It does not wait: done is closed then.
func (l *jsonConn) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.out)
	}
}
