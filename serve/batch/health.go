package batch

import (
	"context"
	"errors"
	"sync/atomic"
)

// Health remembers whether the last batch of a queue failed. The zero value is ready to use.
type Health struct {
	broken atomic.Pointer[error] // that of the last batch, or nil
}

// Observe records the report of a batch. Call it after each batch, for example from Options.Observe. A batch does not count as failed if it was
// canceled, or if its error matches an element of mistakes. These are errors about invalid items.
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

// Check returns nil if items can be computed, and otherwise the error. After a failed batch, Check calls probe, which should compute a test item: an
// unhealthy server may get no requests, so only a probe can find out that the device works again.
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
