package turn

import (
	"context"
	"time"
)

// Turn is the lock. Goroutines acquire it in the order in which they began to wait.
type Turn chan struct{}

// New returns an unlocked Turn.
func New() Turn { return make(Turn, 1) }

// Take waits for the lock and acquires it.
func (t Turn) Take() { t <- struct{}{} }

// TakeBefore is Take, except that it returns the error of ctx if ctx is done first.
func (t Turn) TakeBefore(ctx context.Context) error {
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

// TakeWithin is Take, except that it returns false after d. It acquires an unlocked Turn even if d is 0.
func (t Turn) TakeWithin(d time.Duration) bool {
	select {
	case t <- struct{}{}:
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return t.TakeBefore(ctx) == nil
}

// Give releases the lock.
func (t Turn) Give() { <-t }
