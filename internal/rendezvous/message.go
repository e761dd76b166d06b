package rendezvous

// message is a line of JSON. One of its parts is set.
type message struct {
	Challenge []byte  `json:",omitempty"` // from rank 0, first of all: prove that you have the secret
	Hello     *hello  `json:",omitempty"` // to rank 0: who comes
	Start     *start  `json:",omitempty"` // all have come
	Fail      *fail   `json:",omitempty"` // the job cannot begin
	Lost      []int   `json:",omitempty"` // these ended
	Leave     bool    `json:",omitempty"` // to rank 0: the end of this process is no loss
	Ask       int     `json:",omitempty"` // where are the others? the number of the question
	At        *answer `json:",omitempty"` // where one is
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

// answer is how far processes have come.
type answer struct {
	Question int
	Of       int           // processes that were asked
	At       map[int]int64 // by rank
}
