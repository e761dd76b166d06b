package llm

import (
	"context"
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
	if p.work != nil {
		err = errors.Join(err, p.work.Close())
	}
	return err
}

// begin prepares the choice of the tokens of a sequence in a row.
func (p *sampler) begin(row int, q *sequence) error {
	r := q.request
	params := sampling.Params{
		Seed: r.Seed, Temperature: float32(r.Temperature), TopP: float32(r.TopP), MinP: float32(r.MinP), TopK: int32(r.TopK),
		Repetition: float32(r.RepetitionPenalty), Masked: q.matcher != nil,
	}
	err := device.UploadTo(p.stream, p.params.Slice(row, row+1), []sampling.Params{params})
	if q.matcher != nil {
		err = errors.Join(err, p.restrict(row, q))
	}
	if !r.penalizes() {
		return err
	}
	counts := make([]uint16, p.vocabulary)
	for _, id := range q.tokens { // those of the text, too: whether a token occurs is all that the penalty asks
		if id >= 0 && int(id) < len(counts) {
			counts[id] = sampling.Prompt
		}
	}
	return errors.Join(err, device.UploadTo(p.stream, p.countsOf(row, 1), counts))
}

// penalizes reports whether the tokens that have occurred matter.
func (r Request) penalizes() bool { return r.RepetitionPenalty != 0 && r.RepetitionPenalty != 1 }

// countsOf returns the counts of n rows.
func (p *sampler) countsOf(row, n int) device.Slice[uint16] {
	return p.counts.Slice(row*p.vocabulary, (row+n)*p.vocabulary)
}

// move moves the request of a row to another row.
func (p *sampler) move(to, from int, r Request) error {
	err := device.Copy(p.stream, p.params.Slice(to, to+1), p.params.Slice(from, from+1))
	if !r.penalizes() {
		return err
	}
	return errors.Join(err, device.Copy(p.stream, p.countsOf(to, 1), p.countsOf(from, 1)))
}

// choose is a llama.Chooser.
func (p *sampler) choose(s *tensor.Scope, c llama.Choice) error {
	logits, err := tensor.SliceOf[float32](c.Logits)
	if err != nil {
		return err
	}
	n, words := c.Tokens.Len(), (p.vocabulary+31)/32
	return sampling.Sample(s.Stream(), sampling.Shape{Rows: n, Vocabulary: p.vocabulary}, sampling.Operands{
		Logits: logits, Params: p.params.Slice(c.Row, c.Row+n), Positions: c.Positions, Work: p.work.All(), Counts: p.countsOf(c.Row, n), Tokens: c.Tokens,
		Mask: p.masks.Slice(c.Row*words, (c.Row+n)*words),
	})
}

// mailbox brings tokens to the host while the device computes the next ones.
type mailbox struct {
	from   *device.Stream
	wait   *device.Stream // waits for events of from, but not for what follows them
	tokens *device.Pinned[int32]
	event  *device.Event // after the copy that was enqueued last
}

func newMailbox(from *device.Stream, rows int) (*mailbox, error) {
	b := &mailbox{from: from}
	var err error
	if b.wait, err = from.Device().NewStream(); err != nil {
		return b, err
	}
	b.tokens, err = device.NewPinned[int32](from.Device(), rows)
	return b, err
}

// Close frees the memory. No copy may be pending.
func (b *mailbox) Close() error {
	var err error
	if b.event != nil {
		err = b.event.Close()
	}
	if b.tokens != nil {
		err = errors.Join(err, b.tokens.Close())
	}
	if b.wait != nil {
		err = errors.Join(err, b.wait.Close())
	}
	return err
}

// send enqueues the copy of tokens. Those that were sent before must have been received.
func (b *mailbox) send(tokens device.Slice[int32]) error {
	if err := device.DownloadPinned(b.from, b.tokens.Slice(0, tokens.Len()), tokens); err != nil {
		return err
	}
	if b.event != nil {
		if err := b.event.Close(); err != nil {
			return err
		}
	}
	var err error
	b.event, err = b.from.Record()
	return err
}

// receive waits for the copy and returns the tokens, which are valid until the next send.
func (b *mailbox) receive(ctx context.Context) ([]int32, error) {
	if err := errors.Join(b.wait.WaitFor(b.event), b.wait.Synchronize(ctx)); err != nil {
		return nil, err
	}
	return b.tokens.Host(), nil
}
