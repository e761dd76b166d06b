package train

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/optimizer"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// leastEight is the number of elements from which on the moments of a parameter have 8 bits, as in bitsandbytes.
const leastEight = 4096

// eight is the state of AdamW with 8-bit moments, beside the buffer of the optimizer, which begins with the scales and the moments of small
// parameters, and ends with the table.
type eight struct {
	eightLayout
	list  *device.Buffer[optimizer.Chunk]
	codes *device.Buffer[uint8]
}

// eightLayout is where the numbers of 8-bit moments are.
type eightLayout struct {
	parts  []chunked
	chunks int // with the gaps before chunks of other parts
	used   int // scales, with such gaps
	scales int // elements of the buffer before the moments of small parameters: used, rounded up to a multiple of extra
	exact  int // elements of the moments of small parameters
	coded  int // elements of codes
}

// gap is the number of elements to a multiple of which the chunks and scales of a part are aligned.
const gap = 4

// chunked is the chunks of a part.
type chunked struct {
	list    []optimizer.Chunk // their Slots are numbered in the part
	numbers []int             // of the chunks, among those of all parameters
	eight   int               // the number of chunks with 8-bit moments
}

// chunksOf returns the chunks of the parts of a process.
func chunksOf(m *nn.Memory, rank int) (parts []chunked) {
	begins, sizes := m.Layout()
	all, _ := optimizer.Layout(begins, sizes, leastEight)
	for _, p := range m.Parts {
		n := p.End - p.Begin
		begin := p.Begin + (rank-m.Rank)*n
		var x chunked
		for i, c := range all {
			at := int(c.At)*optimizer.Unit - begin
			if at < 0 || at >= n {
				continue
			}
			if c.At = int32(at / optimizer.Unit); c.Slot < 0 {
				c.Slot = int32(x.eight - len(x.list) - 1)
			} else {
				c.Slot = int32(x.eight)
				x.eight++
			}
			x.list, x.numbers = append(x.list, c), append(x.numbers, i)
		}
		parts = append(parts, x)
	}
	return parts
}

// layoutOf returns where the numbers of parts are.
func layoutOf(parts []chunked) eightLayout {
	l := eightLayout{parts: parts}
	for _, p := range parts {
		l.chunks += roundUp(len(p.list), gap)
		l.used += roundUp(2*p.eight, gap)
		l.exact += 2 * optimizer.Block * (len(p.list) - p.eight)
		l.coded += 2 * optimizer.Block * p.eight
	}
	l.scales = roundUp(l.used, extra)
	return l
}

// open allocates the memory for the parameters of m.
func (e *eight) open(s *device.Stream, m *nn.Memory) (err error) {
	e.eightLayout = layoutOf(chunksOf(m, m.Rank))
	var list []optimizer.Chunk
	for _, p := range e.parts {
		list = append(list, p.list...)
		list = append(list, make([]optimizer.Chunk, roundUp(len(list), gap)-len(list))...)
	}
	if e.list, err = device.Upload(s, list); err != nil {
		return err
	}
	e.codes, err = device.Make[uint8](s, e.coded)
	return err
}

// close frees the memory.
func (e *eight) close() (err error) {
	if e.list != nil {
		err = e.list.Close()
	}
	if e.codes != nil {
		err = errors.Join(err, e.codes.Close())
	}
	*e = eight{}
	return err
}

// of returns the operands of the kernel for a part, given the buffer of the optimizer.
func (e *eight) of(all device.Slice[float32], part int) optimizer.Eight {
	p, before := e.parts[part], layoutOf(e.parts[:part])
	own := layoutOf([]chunked{p})
	exact := e.scales + before.exact
	return optimizer.Eight{
		Chunks: e.list.All().Slice(before.chunks, before.chunks+len(p.list)),
		Codes:  e.codes.All().Slice(before.coded, before.coded+own.coded),
		Scales: all.Slice(before.used, before.used+2*p.eight),
		Exact:  all.Slice(exact, exact+own.exact),
		Table:  all.Slice(all.Len()-optimizer.TableLen, all.Len()),
	}
}

// places returns where the moments of each chunk are in a State.
func (l eightLayout) places() (list [][]place) {
	codes, scales, exact := 0, 0, l.scales
	for _, p := range l.parts {
		small := len(p.list) - p.eight
		for _, c := range p.list {
			slot := int(c.Slot)
			if slot < 0 {
				at := exact + (-slot-1)*optimizer.Block
				list = append(list, []place{{at: at, n: optimizer.Block}, {at: at + small*optimizer.Block, n: optimizer.Block}})
				continue
			}
			at, scale := codes+slot*optimizer.Block, scales+slot
			list = append(list, []place{
				{at: at, n: optimizer.Block, codes: true}, {at: at + p.eight*optimizer.Block, n: optimizer.Block, codes: true}, {at: scale, n: 1}, {at: scale + p.eight, n: 1},
			})
		}
		codes, scales, exact = codes+2*p.eight*optimizer.Block, scales+roundUp(2*p.eight, gap), exact+2*small*optimizer.Block
	}
	return list
}

// eightPlaces is the method places of an optimizer with 8-bit moments.
func eightPlaces(m *nn.Memory, rank int) (own, whole places) {
	begins, sizes := m.Layout()
	var all chunked
	all.list, all.eight = optimizer.Layout(begins, sizes, leastEight)
	parts := chunksOf(m, rank)
	from, to := layoutOf([]chunked{all}), layoutOf(parts)
	own, whole = places{numbers: to.scales + to.exact, codes: to.coded}, places{numbers: from.scales + from.exact, codes: from.coded}
	by, at := from.places(), 0
	list := to.places()
	for _, p := range parts {
		for i, number := range p.numbers {
			own.list = append(own.list, list[at+i]...)
			whole.list = append(whole.list, by[number]...)
		}
		at += len(p.list)
	}
	return own, whole
}

// stepEight takes a step with 8-bit moments.
func (o *AdamW) stepEight(s *tensor.Scope, m *nn.Memory, a optimizer.Adam) error {
	if m.Values.DType() == dtype.BFloat16 {
		return step(s, &o.state, m, func(part int, x optimizer.Operands[dtype.BF16]) error {
			return optimizer.AdamW8(s.Stream(), a, x, o.eight.of(o.buffer.All(), part))
		})
	}
	return step(s, &o.state, m, func(part int, x optimizer.Operands[float32]) error {
		return optimizer.AdamW8(s.Stream(), a, x, o.eight.of(o.buffer.All(), part))
	})
}
