package llm

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
)

// mailbox brings tokens to the host while the device computes the next ones.
type mailbox struct {
	from   *device.Stream
	wait   *device.Stream // waits for events of from, but not for what follows them
	tokens *device.Pinned[int32]
	likely *device.Pinned[sampling.Likely] // of each token, if somebody asks for them
	event  *device.Event                   // after the copy that was enqueued last
}

func newMailbox(from *device.Stream, rows int) (*mailbox, error) {
	b := &mailbox{from: from}
	var err error
	if b.wait, err = from.Device().NewStream(); err != nil {
		return b, err
	}
	if b.tokens, err = device.NewPinned[int32](from.Device(), rows); err != nil {
		return b, err
	}
	b.likely, err = device.NewPinned[sampling.Likely](from.Device(), rows*sampling.LikelyRow)
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
	if b.likely != nil {
		err = errors.Join(err, b.likely.Close())
	}
	if b.wait != nil {
		err = errors.Join(err, b.wait.Close())
	}
	return err
}

// send enqueues the copy of tokens and of lists of probable tokens, which may be empty. Those that were sent before must have been received.
func (b *mailbox) send(tokens device.Slice[int32], likely device.Slice[sampling.Likely]) error {
	if err := device.DownloadPinned(b.from, b.tokens.Slice(0, tokens.Len()), tokens); err != nil {
		return err
	}
	if likely.Len() > 0 {
		if err := device.DownloadPinned(b.from, b.likely.Slice(0, likely.Len()), likely); err != nil {
			return err
		}
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

// receive waits for the copy and returns the tokens and their lists, which are valid until the next send.
func (b *mailbox) receive(ctx context.Context) ([]int32, []sampling.Likely, error) {
	if err := errors.Join(b.wait.WaitFor(b.event), b.wait.Synchronize(ctx)); err != nil {
		return nil, nil, err
	}
	return b.tokens.Host(), b.likely.Host(), nil
}
