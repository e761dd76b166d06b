package nn

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// ErrDivided is the error of a method that needs float32 values that other processes have: see Params.Divide.
var ErrDivided = errors.New("nn: other processes have float32 values of the parameter")

// A Division divides the parameters among the optimizers of several processes, which train copies of the same model. The elements of all
// parameters are divided into ranges of up to Bucket elements, from the last element to the first. Each range is divided into World equal
// parts, of which this process has part number Rank.
type Division struct {
	Rank   int // of this process, from 0
	World  int // the number of processes
	Bucket int // the largest number of elements of a range
}

// A Part is a range of elements that the optimizer of this process updates.
type Part struct {
	Begin, End int // the range in Memory.Values and Memory.Grads
	Master     int // the index of the first element in Memory.Master
}

// partSpacing is the number of elements to a multiple of which parameters and parts are aligned, so that no block of 8-bit moments is divided.
const partSpacing = 256

// Divide divides the parameters among processes (Rajbhandari et al., "ZeRO", stage 1). The optimizer of this process then updates only the
// elements in Memory.Parts. If activations are bfloat16, this process has float32 values only of its part of the parameters and of all
// vectors. Vectors are parameters of at most one dimension. Call Divide before the first use of a parameter.
func (p *Params) Divide(d Division) error {
	if d.Rank < 0 || d.Rank >= d.World || d.Bucket < 1 {
		return fmt.Errorf("nn: the division %+v does not exist", d)
	}
	if p.trained.memory != nil {
		return fmt.Errorf("%w: the parameters cannot be divided", ErrPlaced)
	}
	p.trained.division = d
	return nil
}

// arrange sets where parameters begin, and returns a Memory without its arrays, and the number of elements of Memory.Master.
func (p *Params) arrange() (m *Memory, masters int) {
	t := &p.trained
	m = &Memory{Division: t.division, parameters: t.list, undivided: t.size}
	if m.World < 2 {
		m.Division = Division{World: 1, Bucket: t.size}
		m.Parts = []Part{{End: t.size}}
		for _, q := range t.list {
			q.end = q.at + roundUp(elementsOf(q.shape), spacing)
		}
		return m, t.size
	}
	unit := partSpacing * m.World
	at := 0
	place := func(vectors bool) {
		var last *Parameter
		for _, q := range t.list {
			if (len(q.shape) < 2) == vectors {
				q.at = at
				at += roundUp(elementsOf(q.shape), partSpacing)
				q.end, last = at, q
			}
		}
		if at = roundUp(at, unit); last != nil {
			last.end = at
		}
	}
	place(true)
	vectors := at
	place(false)
	t.size, masters = at, at
	size := max(m.Bucket/unit, 1) * unit
	if m.divided = p.half(); m.divided {
		m.vectors, masters = vectors, vectors
	}
	for _, x := range [][2]int{{vectors, t.size}, {0, vectors}} {
		for end := x[1]; end > x[0]; end -= size {
			begin := max(end-size, x[0])
			n := (end - begin) / m.World
			part := Part{Begin: begin + m.Rank*n, End: begin + (m.Rank+1)*n, Master: begin + m.Rank*n}
			if m.divided && begin >= vectors {
				part.Master = masters
				masters += n
			}
			m.Parts = append(m.Parts, part)
		}
	}
	return m, masters
}

// roundUp returns the smallest multiple of unit that is at least n.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// Range returns the range of which p is a part: see Division.
func (m *Memory) Range(p Part) (begin, end int) {
	n := p.End - p.Begin
	begin = p.Begin - m.Rank*n
	return begin, begin + m.World*n
}

// Own returns the number of elements in Parts.
func (m *Memory) Own() (n int) {
	for _, p := range m.Parts {
		n += p.End - p.Begin
	}
	return n
}

// Divided reports whether Master has only a part of the parameters.
func (m *Memory) Divided() bool { return m.divided }

// Vectors returns the number of elements of all vectors: see Params.Divide. These elements are the first of Master and of Values. If Master
// is not divided, the result is 0.
func (m *Memory) Vectors() int { return m.vectors }

// A Piece is a range of elements that belong to one parameter and to one Part of a process.
type Piece struct {
	Own   int // the index of the Piece's first element, counted through all Parts of the process
	Whole int // the index that this element would have in Memory.Master if the parameters were not divided
	Len   int
}

// Pieces returns the Pieces of the process with the given rank, and the number of elements that Memory.Master would have if the parameters
// were not divided.
func (m *Memory) Pieces(rank int) (list []Piece, whole int) {
	own := 0
	for _, p := range m.Parts {
		n := p.End - p.Begin
		begin := p.Begin + (rank-m.Rank)*n
		for _, q := range m.parameters {
			from, to := max(begin, q.at), min(begin+n, q.at+elementsOf(q.shape))
			if from < to {
				list = append(list, Piece{own + from - begin, q.whole + from - q.at, to - from})
			}
		}
		own += n
	}
	return list, m.undivided
}

// Masters waits for the stream and returns a copy of the elements of Master that belong to Parts.
func (m *Memory) Masters(s *tensor.Scope) ([]float32, error) {
	values, at := make([]float32, m.Own()), 0
	for _, p := range m.Parts {
		n := p.End - p.Begin
		if err := device.Download(s.Stream(), values[at:at+n], m.Master.Slice(p.Master, p.Master+n)); err != nil {
			return nil, err
		}
		at += n
	}
	return values, s.Stream().Synchronize(s.Context())
}

// Assemble makes the values of other processes available to Parameter.Values, until it is called with nil. masters[i] is the result of Masters
// in the process with rank i.
func (m *Memory) Assemble(masters [][]float32) {
	m.assembled = nil
	for rank, values := range masters {
		list, n := m.Pieces(rank)
		if m.assembled == nil {
			m.assembled = make([]float32, n)
		}
		for _, x := range list {
			copy(m.assembled[x.Whole:x.Whole+x.Len], values[x.Own:])
		}
	}
}

// has reports whether Master has all values of a parameter.
func (m *Memory) has(q *Parameter) bool { return !m.divided || q.at < m.vectors }

// upload replaces the values of a parameter from an element on.
func (q *Parameter) upload(s *device.Stream, m *Memory, from int, values []float32) error {
	if err := m.upload(s, q, q.at+from, values); err != nil || q.value.DType() != dtype.BFloat16 {
		return err
	}
	to, err := tensor.SliceOf[dtype.BF16](q.value)
	if err != nil {
		return err
	}
	return device.UploadTo(s, to.Slice(from, from+len(values)), dtype.BF16sFrom32(values))
}

// upload replaces values of a parameter in Master, from element number begin of all parameters on, by those that this process has.
func (m *Memory) upload(s *device.Stream, q *Parameter, begin int, values []float32) error {
	if m.has(q) {
		return device.UploadTo(s, m.Master.Slice(begin, begin+len(values)), values)
	}
	for _, p := range m.Parts {
		from, to := max(p.Begin, begin), min(p.End, begin+len(values))
		if from >= to {
			continue
		}
		at := p.Master + from - p.Begin
		if err := device.UploadTo(s, m.Master.Slice(at, at+to-from), values[from-begin:to-begin]); err != nil {
			return err
		}
	}
	return nil
}
