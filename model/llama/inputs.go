package llama

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// extension is tokens for which a cache has room.
type extension struct {
	batch
	tokens  device.Slice[int32] // those of the first spans, which the device has chosen
	started func() error        // called, unless it is nil, when the inputs have been uploaded
}

// inputs are what the kernels of an extension read, beside the model and the cache.
type inputs struct {
	ids, places, positions *tensor.Tensor
	spans                  device.Slice[prefill.Span] // those of extension, without the single tokens
	adapters               lora.Rows
	last                   *tensor.Tensor      // the numbers of the last tokens of sequences and ends
	at                     device.Slice[int32] // the positions of these
}

// packed is lists of numbers that the host uploads in one copy, because each copy takes the host some microseconds.
type packed struct {
	all   []int32
	lists [][2]int // where each begins and ends
}

// packedAlign is what the beginnings of the lists are multiples of: 256 bytes, as for lists that are uploaded one by one.
const packedAlign = 64

// add adds a list, and zeros after it, so that it has n numbers.
func (p *packed) add(list []int32, n int) {
	from := len(p.all)
	p.lists = append(p.lists, [2]int{from, from + n})
	p.all = append(append(p.all, list...), make([]int32, (n+packedAlign-1)&^(packedAlign-1)-len(list))...)
}

// in returns the lists in device memory that has all numbers.
func (p *packed) in(all device.Slice[int32]) []device.Slice[int32] {
	list := make([]device.Slice[int32], len(p.lists))
	for i, x := range p.lists {
		list[i] = all.Slice(x[0], x[1])
	}
	return list
}

// extension makes room for tokens of sequences. The errors match ErrFull, ErrContext and ErrSequence, and leave the cache as it was.
func (c *Cache) extension(sequences []int, ends, parts []Span) (*extension, error) {
	b, err := c.append(slices.Concat(ofRows(sequences), ends, parts))
	b.rows, b.chosen = len(sequences), len(sequences)+len(ends)
	return &extension{batch: b}, err
}

// lasts returns the numbers and positions of the tokens after which others are chosen.
func (b *batch) lasts() (last, at []int32) {
	for i := range b.chosen {
		n := b.spans[4*i] + b.spans[4*i+1] - 1
		last, at = append(last, n), append(at, b.positions[n])
	}
	return last, at
}

// pack returns the inputs of a batch: for each token its number, its place and its position, the tokens after which others are chosen and the
// positions of these, the spans, and the plan of the adapters, if some are used. Surplus tokens and spans have no influence.
func (m *Model) pack(c *Cache, b *batch, of bulk) (p packed) {
	last, at := b.lasts()
	places, spans := b.places, b.spans[4*b.rows:]
	for range of.tokens - len(b.ids) {
		places = append(places, -1, 0)
	}
	for len(spans) < 4*of.spans {
		spans = append(spans, int32(of.tokens), 0, 0, 0) // spans are in the order of their rows
	}
	p.add(b.ids, of.tokens)
	p.add(places, 2*of.tokens)
	p.add(b.positions, of.tokens)
	p.add(last, of.chosen)
	p.add(at, of.chosen)
	p.add(spans, 4*of.spans)
	if which := m.adaptersOf(c, places); which != nil {
		p.add(m.adapters.Plan(which), m.planLen(of.tokens))
	}
	return p
}

// adapted reports whether pack has packed a plan of adapters.
func (p *packed) adapted() bool { return len(p.lists) > 6 }

// inputsOf returns the inputs that pack has packed, from device memory.
func (p *packed) inputsOf(s *tensor.Scope, all device.Slice[int32]) (in inputs, err error) {
	list := p.in(all)
	for i, t := range []**tensor.Tensor{&in.ids, &in.places, &in.positions, &in.last} {
		x, err := tensor.Wrap(list[i], list[i].Len())
		if err != nil {
			return in, err
		}
		*t = s.Use(x)
	}
	in.at, in.spans = list[4], device.View[prefill.Span](list[5])
	if p.adapted() {
		in.adapters = lora.Planned(list[6])
	}
	return in, nil
}

// place uploads the inputs of an extension.
func (m *Model) place(s *tensor.Scope, c *Cache, e *extension) (in inputs, err error) {
	b := &e.batch
	p := m.pack(c, b, bulk{tokens: len(b.ids), spans: len(b.spans)/4 - b.rows, chosen: b.chosen})
	all, err := tensor.SliceOf[int32](tensor.From(s, p.all, len(p.all)))
	if err != nil {
		return in, err
	}
	if in, err = p.inputsOf(s, all); err != nil {
		return in, err
	}
	return in, e.start(s.Stream(), all)
}

// start copies the tokens that the device has chosen to the inputs, which are complete then.
func (e *extension) start(s *device.Stream, inputs device.Slice[int32]) error {
	if e.rows > 0 {
		if err := device.Copy(s, inputs.Slice(0, e.rows), e.tokens); err != nil {
			return err
		}
	}
	if e.started == nil {
		return nil
	}
	return e.started()
}
