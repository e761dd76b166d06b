package llm

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// sampler chooses tokens on a device. Its parameters are in device memory, so that a graph can be replayed with others.
type sampler struct {
	stream     *device.Stream
	vocabulary int
	params     *device.Buffer[sampling.Params] // of each row of a decoder
	counts     *device.Buffer[uint16]          // of the tokens of each row's text
	masks      *device.Buffer[uint32]          // of the tokens that a grammar allows in each row
	work       *device.Buffer[int32]
	logprobs   *device.Buffer[float32]         // of the tokens that were chosen last
	likely     *device.Buffer[sampling.Likely] // sampling.LikelyRow for each row: what was listed last
	biases     biases
}

// newSampler returns a sampler for the rows of a decoder.
func newSampler(s *device.Stream, rows, vocabulary int) (*sampler, error) {
	p := &sampler{stream: s, vocabulary: vocabulary}
	var err error
	if p.params, err = device.Make[sampling.Params](s, rows); err != nil {
		return p, err
	}
	if p.counts, err = device.Make[uint16](s, rows*vocabulary); err != nil {
		return p, err
	}
	if p.masks, err = device.Make[uint32](s, rows*((vocabulary+31)/32)); err != nil {
		return p, err
	}
	if p.logprobs, err = device.Make[float32](s, rows); err != nil {
		return p, err
	}
	if p.likely, err = device.Make[sampling.Likely](s, rows*sampling.LikelyRow); err != nil {
		return p, err
	}
	if p.biases, err = newBiases(s, rows); err != nil {
		return p, err
	}
	p.work, err = device.Make[int32](s, max(1, sampling.Workspace(s, sampling.Shape{Rows: rows, Vocabulary: vocabulary})))
	return p, err
}

// Close frees the memory.
func (p *sampler) Close() error {
	var err error
	if p.params != nil {
		err = p.params.Close()
	}
	if p.counts != nil {
		err = errors.Join(err, p.counts.Close())
	}
	if p.masks != nil {
		err = errors.Join(err, p.masks.Close())
	}
	if p.logprobs != nil {
		err = errors.Join(err, p.logprobs.Close())
	}
	if p.likely != nil {
		err = errors.Join(err, p.likely.Close())
	}
	if p.work != nil {
		err = errors.Join(err, p.work.Close())
	}
	return errors.Join(err, p.biases.close())
}

// begin prepares the choice of the tokens of a sequence in a row.
func (p *sampler) begin(row int, q *sequence) error {
	r := q.request
	err := p.repeat(row, []*sequence{q})
	if q.matcher != nil {
		err = errors.Join(err, p.restrict(row, q))
	}
	if !r.penalizes() {
		return err
	}
	counts := make([]uint16, p.vocabulary)
	for i, id := range q.tokens { // those of the text, too: it may be computed again
		switch {
		case id < 0 || int(id) >= len(counts):
		case i < q.prompt:
			counts[id] |= sampling.Prompt
		case counts[id]&^sampling.Prompt < sampling.Prompt-1:
			counts[id]++
		}
	}
	return errors.Join(err, device.UploadTo(p.stream, p.countsOf(row, 1), counts))
}

// params returns the parameters for the choice of the tokens of a sequence.
func (q *sequence) params() sampling.Params {
	r := q.request
	return sampling.Params{
		Seed: r.Seed, Temperature: float32(r.Temperature), TopP: float32(r.TopP), MinP: float32(r.MinP), TopK: int32(r.TopK),
		Repetition: float32(r.RepetitionPenalty), Frequency: float32(r.FrequencyPenalty), Presence: float32(r.PresencePenalty),
		Masked: q.matcher != nil, Logprobs: r.Logprobs, Top: int32(r.TopLogprobs),
	}
}

// repeat prepares rows, from row first on, for the choice of tokens of sequences. Their tokens so far do not matter.
func (p *sampler) repeat(first int, list []*sequence) error {
	params := make([]sampling.Params, len(list))
	var err error
	for i, q := range list {
		params[i] = q.params()
		err = errors.Join(err, p.biases.set(first+i, q.biases))
	}
	return errors.Join(err, device.UploadTo(p.stream, p.params.Slice(first, first+len(list)), params))
}

// penalizes reports whether the tokens that have occurred matter.
func (r Request) penalizes() bool {
	return r.RepetitionPenalty != 0 && r.RepetitionPenalty != 1 || r.FrequencyPenalty != 0 || r.PresencePenalty != 0
}

// countsOf returns the counts of n rows.
func (p *sampler) countsOf(row, n int) device.Slice[uint16] {
	return p.counts.Slice(row*p.vocabulary, (row+n)*p.vocabulary)
}

// move moves the request of a row to another row.
func (p *sampler) move(to, from int, r Request) error {
	err := errors.Join(device.Copy(p.stream, p.params.Slice(to, to+1), p.params.Slice(from, from+1)), p.biases.set(to, p.biases.rows[from]))
	if !r.penalizes() {
		return err
	}
	return errors.Join(err, device.Copy(p.stream, p.countsOf(to, 1), p.countsOf(from, 1)))
}

// moveList moves the list of probable tokens of a row to another row, if the request asks for it.
func (p *sampler) moveList(to, from int, r Request) error {
	if !r.Logprobs {
		return nil
	}
	return device.Copy(p.stream, p.listOf(to, to+1), p.listOf(from, from+1))
}

// choose is a llama.Chooser.
func (p *sampler) choose(s *tensor.Scope, c llama.Choice) error {
	logits, err := tensor.SliceOf[float32](c.Logits)
	if err != nil {
		return err
	}
	first, end, words := c.Row, c.Row+c.Tokens.Len(), (p.vocabulary+31)/32
	shape := sampling.Shape{Rows: end - first, Vocabulary: p.vocabulary}
	params, logprobs := p.params.Slice(first, end), p.logprobs.Slice(first, end)
	err = sampling.Sample(s.Stream(), shape, sampling.Operands{
		Logits: logits, Params: params, Positions: c.Positions, Work: p.work.All(), Counts: p.countsOf(first, end-first), Tokens: c.Tokens,
		Mask: p.masks.Slice(first*words, end*words), Biases: p.biases.list.All(), Offsets: p.biases.offsets.Slice(first, end+1), Logprobs: logprobs,
	})
	if err != nil {
		return err
	}
	return sampling.List(s.Stream(), shape, sampling.LikelyOperands{
		Logits: logits, Params: params, Tokens: c.Tokens, Logprobs: logprobs, List: p.listOf(first, end),
	})
}

// listOf returns the lists of probable tokens of rows.
func (p *sampler) listOf(first, end int) device.Slice[sampling.Likely] {
	return p.likely.Slice(first*sampling.LikelyRow, end*sampling.LikelyRow)
}
