package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// tally is what the requests of a load saw.
type tally struct {
	span time.Duration

	mu                sync.Mutex
	answered, refused []time.Duration
	err               error
}

// note notes a request that began at a time.
func (t *tally) note(began time.Time, answered bool, err error) {
	took := time.Since(began)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		if t.err == nil {
			t.err = err
		}
	case answered:
		t.answered = append(t.answered, took)
	default:
		t.refused = append(t.refused, took)
	}
}

// failed returns the first error.
func (t *tally) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// end sorts the times and returns the load's error.
func (t *tally) end(began time.Time) (*tally, error) {
	t.span = time.Since(began)
	slices.Sort(t.answered)
	slices.Sort(t.refused)
	if t.err == nil && len(t.answered) == 0 {
		t.err = errors.New("no request was answered")
	}
	return t, t.err
}

// rate returns the answers per second.
func (t *tally) rate() float64 { return float64(len(t.answered)) / t.span.Seconds() }

// quantile returns the time within which a share of the answers came.
func (t *tally) quantile(share float64) time.Duration { return quantile(t.answered, share) }

func quantile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(share*float64(len(sorted)-1))]
}

// times returns the columns of the times of answers.
func (t *tally) times() string {
	var sum time.Duration
	for _, d := range t.answered {
		sum += d
	}
	mean := sum.Seconds() / float64(max(len(t.answered), 1))
	return fmt.Sprintf("%.2f\t%.2f\t%.2f", 1e3*mean, 1e3*t.quantile(0.5).Seconds(), 1e3*t.quantile(0.99).Seconds())
}

// refusals returns the columns of refused requests.
func (t *tally) refusals() string {
	return fmt.Sprintf("%.0f\t%.2f\t%.2f", float64(len(t.refused))/t.span.Seconds(), 1e3*quantile(t.refused, 0.5).Seconds(), 1e3*quantile(t.refused, 0.99).Seconds())
}

// bodies returns different requests.
func (b *bench) bodies(seed uint64) (list [][]byte, err error) {
	r := rand.New(rand.NewPCG(seed, uint64(b.n)))
	for range 64 {
		body, err := b.body(r, b.n)
		if err != nil {
			return nil, err
		}
		list = append(list, body)
	}
	return list, nil
}

// closed is a load of users, each of whom sends a request when the one before is answered.
func (b *bench) closed(ctx context.Context, users int, span time.Duration) (*tally, error) {
	list, err := b.bodies(uint64(users))
	if err != nil {
		return nil, err
	}
	var t tally
	var all sync.WaitGroup
	began := time.Now()
	for u := range users {
		all.Go(func() {
			for i := u; time.Since(began) < span && t.failed() == nil; i++ {
				now := time.Now()
				answered, err := b.send(ctx, list[i%len(list)])
				t.note(now, answered, err)
			}
		})
	}
	all.Wait()
	return t.end(began)
}

// open is a load of requests that begin at random moments, rate of them a second on average. Their times count from those moments. At
// most twice as many as the server admits are in flight; others are not sent, because each needs two open files.
func (b *bench) open(ctx context.Context, rate float64, span time.Duration) (*tally, error) {
	list, err := b.bodies(uint64(rate))
	if err != nil {
		return nil, err
	}
	var t tally
	var all sync.WaitGroup
	places := make(chan struct{}, 2*b.users)
	r, began := rand.New(rand.NewPCG(uint64(rate), 3)), time.Now()
	next := began
	for i := 0; next.Sub(began) < span && t.failed() == nil; i++ {
		at := next
		until(at)
		select {
		case places <- struct{}{}:
			all.Go(func() {
				answered, err := b.send(ctx, list[i%len(list)])
				t.note(at, answered, err)
				<-places
			})
		default:
		}
		next = next.Add(time.Duration(r.ExpFloat64() / rate * float64(time.Second)))
	}
	all.Wait()
	return t.end(began)
}

// until waits for a moment, more precisely than a timer. Many calls of runtime.Gosched would disturb the server.
func until(at time.Time) {
	const timer = 2 * time.Millisecond
	if left := time.Until(at); left > timer {
		time.Sleep(left - timer)
	}
	for time.Now().Before(at) {
	}
}
