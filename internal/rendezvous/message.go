package rendezvous

import (
	"encoding/json"
	"net"
	"sync"
)

// message is a line of JSON. One of its parts is set.
type message struct {
	Hello *hello  `json:",omitempty"` // to rank 0: who comes
	Start *start  `json:",omitempty"` // all have come
	Fail  *fail   `json:",omitempty"` // the job cannot begin
	Lost  []int   `json:",omitempty"` // these ended
	Leave bool    `json:",omitempty"` // to rank 0: the end of this process is no loss
	Ask   int     `json:",omitempty"` // where are the others? the number of the question
	At    *answer `json:",omitempty"` // where one is
}

type hello struct{ Rank, World int }

type start struct{ Payload []byte }

type fail struct {
	Missing []int
	After   int64 // nanoseconds
	Text    string
}

// answer is how far processes have come.
type answer struct {
	Question int
	Of       int           // processes that were asked
	At       map[int]int64 // by rank
}

// A jsonConn is a connection that sends and receives whole JSON messages.
type jsonConn struct {
	conn net.Conn
	read *json.Decoder

	mu    sync.Mutex
	write *json.Encoder
}

func newJSONConn(c net.Conn) *jsonConn {
	return &jsonConn{conn: c, read: json.NewDecoder(c), write: json.NewEncoder(c)}
}

func (l *jsonConn) send(m message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write.Encode(m)
}

func (l *jsonConn) receive() (m message, err error) {
	err = l.read.Decode(&m)
	return m, err
}
