package rendezvous

// message is a line of JSON. One of its fields is set.
type message struct {
	Challenge []byte  `json:",omitempty"` // from rank 0, as the first message: prove that you have the secret
	Hello     *hello  `json:",omitempty"` // to rank 0: the identity of the process that joins
	Start     *start  `json:",omitempty"` // all processes have joined
	Fail      *fail   `json:",omitempty"` // the job cannot start
	Lost      []int   `json:",omitempty"` // processes that ended
	Leave     bool    `json:",omitempty"` // to rank 0: the end of this process is not a loss
	Ask       int     `json:",omitempty"` // the number of a question for the progress of all processes
	At        *answer `json:",omitempty"` // the progress of a process
	Give      *block  `json:",omitempty"` // to rank 0: what a process passed to Exchange; from rank 0: the result
	Alive     bool    `json:",omitempty"` // see Options.Silence
}

// block is what a process passed to a call of Exchange, or the result.
type block struct {
	Call int // the number of the call, from 1
	Data []byte
}

type hello struct {
	Rank, World int
	Challenge   []byte // for rank 0
	Proof       []byte
}

type start struct {
	Payload []byte
	Proof   []byte
}

type fail struct {
	Missing []int
	After   int64 // nanoseconds
	Text    string
}

// answer is the progress of processes.
type answer struct {
	Question int
	Of       int           // processes that were asked
	At       map[int]int64 // by rank
}
