package batch

import (
	"context"
	"errors"
	"sync/atomic"
)

// Health remembers whether the last batch of a queue failed. The zero value is the health of a queue without batches.
type Health struct {
	broken atomic.Pointer[error] // that of the last batch, or nil
}

// Observe is called after each batch. A canceled batch did not fail, nor did one with an error that matches one of mistakes, which are those
// of items.
func (h *Health) Observe(r Report, mistakes ...error) {
	var failed *error
	if r.Err != nil && !errors.Is(r.Err, context.Canceled) {
		failed = &r.Err
	}
	for _, err := range mistakes {
		if errors.Is(r.Err, err) {
			failed = nil
		}
	}
	h.broken.Store(failed)
}

// Check returns why nothing can be computed, or nil. After a batch that failed, it calls probe, which computes an item of its own: a server
// that is not healthy may get no requests, so only a probe can find out that the device works again.
func (h *Health) Check(ctx context.Context, probe func() error) error {
	last := h.broken.Load()
	if last == nil {
		return nil
	}
	err := probe()
	if errors.Is(err, ErrFull) || ctx.Err() != nil {
		return *last
	}
	return err
}
