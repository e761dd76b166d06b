package cpu

import (
	"context"
	"time"
)

// turn is a lock that can be waited for with a limit. Those who wait for it have it in the order in which they came.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take() { t <- struct{}{} }

// takeBefore is take that returns the error of ctx where that is done first.
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

// takeWithin is take that returns false after a while.
func (t turn) takeWithin(d time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return t.takeBefore(ctx) == nil
}

func (t turn) give() { <-t }
