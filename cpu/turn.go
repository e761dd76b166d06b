package cpu

import (
	"context"
	"time"
)

// turn is a lock that can be waited for with a time limit. Waiters get it in the order in which
// they arrived.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take() { t <- struct{}{} }

// takeBefore is take, except that it returns the error of ctx if ctx is done first.
func (t turn) takeBefore(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takeWithin is take, except that it returns false after d. It takes a free turn even if d is 0.
func (t turn) takeWithin(d time.Duration) bool {
	select {
	case t <- struct{}{}:
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return t.takeBefore(ctx) == nil
}

func (t turn) give() { <-t }
