package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/batch"
)

// recorder computes squares and records its batches.
type recorder struct {
	mu      sync.Mutex
	batches [][]int
	reports []batch.Report
	takes   time.Duration
	err     error
	ended   []error // of the contexts
}

func (r *recorder) run(ctx context.Context, items []int) ([]int, error) {
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches, r.ended = append(r.batches, slices.Clone(items)), append(r.ended, ctx.Err())
	var squares []int
	for _, v := range items {
		squares = append(squares, v*v)
	}
	return squares, r.err
}

func (r *recorder) observe(x batch.Report) { r.reports = append(r.reports, x) }

// open returns a Queue.
func open(t *testing.T, r *recorder, o batch.Options[int, int]) *batch.Queue[int, int] {
	t.Helper()
	o.Run, o.Observe = r.run, r.observe
	q, err := batch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Items that arrive while a batch is computed are the next one, as far as they fit.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 10, Queue: 8, Size: func(v int) int { return v }})
		var all sync.WaitGroup
		for i, items := range [][]int{{3}, {4, 2}, {9}, {12}, {1}} {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				got, err := q.Do(t.Context(), items...)
				var want []int
				for _, v := range items {
					want = append(want, v*v)
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v: %v, %v", items, got, err)
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		if got := q.Stats(); got != (batch.Stats{Waiting: 5, Running: 1}) {
			t.Errorf("got %+v", got)
		}
		all.Wait()
		q.Close()
		if want := "[[3] [4 2] [9] [12] [1]]"; fmt.Sprint(r.batches) != want {
			t.Errorf("batches %v, want %s", r.batches, want)
		}
		if x := r.reports[1]; x.Items != 2 || x.Size != 6 || x.Took != time.Second || len(x.Waits) != 2 || x.Waits[1] != 999*time.Millisecond || x.Err != nil {
			t.Errorf("got %+v", x)
		}
		if got := q.Stats(); got != (batch.Stats{}) {
			t.Errorf("at the end: %+v", got)
		}
	})
}

// A batch waits for the delay, but not if it is full.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		q := open(t, r, batch.Options[int, int]{Most: 3, Queue: 8, Delay: time.Second})
		defer q.Close()
		var all sync.WaitGroup
		began := time.Now()
		for i, want := range []time.Duration{time.Second, time.Second, 2500 * time.Millisecond, 2500 * time.Millisecond, 2500 * time.Millisecond, 3501 * time.Millisecond} {
			all.Go(func() {
				time.Sleep([]time.Duration{0, 500, 2000, 2000, 2500, 2501}[i] * time.Millisecond)
				if _, err := q.Do(t.Context(), i); err != nil || time.Since(began).Round(time.Millisecond) != want {
					t.Errorf("item %d: after %v, want %v; %v", i, time.Since(began), want, err)
				}
			})
		}
		all.Wait()
	})
}

// later calls Do in a goroutine, and returns when the items wait or are computed.
func later(ctx context.Context, q *batch.Queue[int, int], priority int, items ...int) {
	go q.Do(batch.WithPriority(ctx, priority), items...)
	synctest.Wait()
}

// Calls with a smaller priority are first, and calls with the same priority are in the order of their arrival.
func TestPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 3, Queue: 20})
		later(t.Context(), q, 9, 1)
		later(t.Context(), q, 0, 2, 3)
		later(t.Context(), q, 1, 4)
		later(t.Context(), q, -1, 5, 6)
		later(t.Context(), q, 0, 7)
		later(t.Context(), q, -1, 8, 9)
		q.Close()
		if want := "[[1] [5 6 8] [9 2 3] [7 4]]"; fmt.Sprint(r.batches) != want {
			t.Errorf("batches %v, want %s", r.batches, want)
		}
	})
}

// A batch that waits for others is computed when its first item has waited for the delay, also if a later one precedes that item.
func TestPriorityDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		q := open(t, r, batch.Options[int, int]{Most: 3, Queue: 20, Delay: time.Second})
		later(t.Context(), q, 0, 1)
		time.Sleep(time.Second / 2)
		later(t.Context(), q, -1, 2)
		time.Sleep(time.Second/2 + 1)
		synctest.Wait()
		if want := "[[2 1]]"; fmt.Sprint(r.batches) != want {
			t.Errorf("batches %v, want %s", r.batches, want)
		}
		q.Close()
	})
}

// Items with a larger priority wait for at most 15 batches after all items before them, and others keep most batches.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 2, Queue: 20})
		ctx, cancel := context.WithCancel(t.Context())
		for range 4 { // there are always two that precede the others
			go func() {
				for ctx.Err() == nil {
					_, _ = q.Do(batch.WithPriority(ctx, -1), 1)
				}
			}()
		}
		synctest.Wait()
		later(ctx, q, 5, 50, 51)
		later(ctx, q, 0, 52)
		time.Sleep(40 * time.Second)
		cancel()
		q.Close()
		var at []int
		for i, items := range r.batches {
			if slices.Max(items) >= 50 {
				at = append(at, i)
			}
		}
		first := 17 // the batch that runs, one with the items that wait, and 15
		if len(r.batches[0]) == 1 {
			first++ // because three items waited
		}
		if len(at) != 2 || at[0] != first || at[1] != first+16 || !slices.Equal(r.batches[at[0]], []int{50, 51}) || r.batches[at[1]][0] != 52 {
			t.Errorf("the batches %v have the others: %v", at, r.batches)
		}
	})
}

// Each call of a batch gets the times of its items.
func TestComputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type name struct{}
		var got []string
		began := time.Now()
		after := func(at time.Time) time.Duration { return at.Sub(began) }
		r := &recorder{takes: 2 * time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 3, Queue: 20, Delay: time.Second, Computed: func(ctx context.Context, x batch.Times) {
			got = append(got, fmt.Sprintln(ctx.Value(name{}), after(x.Arrived), after(x.Collected), after(x.Began), after(x.Ended), x.Items, x.Size, x.Err))
		}})
		for i, items := range [][]int{{1}, {2, 3}, {4}, {6}} {
			time.Sleep(600 * time.Millisecond)
			later(context.WithValue(t.Context(), name{}, i), q, 0, items...)
		}
		time.Sleep(time.Hour)
		q.Close()
		want := []string{
			"0 600ms 600ms 1.2s 3.2s 3 3 <nil>\n", "1 1.2s 1.2s 1.2s 3.2s 3 3 <nil>\n",
			"2 1.8s 3.2s 3.2s 5.2s 2 2 <nil>\n", "3 2.4s 3.2s 3.2s 5.2s 2 2 <nil>\n",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A full queue refuses calls at once, whole.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 1, Queue: 3})
		for range 3 {
			go q.Do(t.Context(), 1)
			synctest.Wait()
		}
		if _, err := q.Do(t.Context(), 1, 2); !errors.Is(err, batch.ErrFull) {
			t.Errorf("two items: %v", err)
		}
		if _, err := q.Do(t.Context(), 1); err != nil {
			t.Errorf("one item: %v", err)
		}
		if _, err := q.Do(t.Context(), 1, 2, 3, 4); !errors.Is(err, batch.ErrTooMany) {
			t.Errorf("four items: %v", err)
		}
		q.Close()
		if _, err := q.Do(t.Context(), 1); !errors.Is(err, batch.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if got, err := q.Do(t.Context()); got != nil || err != nil {
			t.Errorf("no items: %v, %v", got, err)
		}
	})
}

// Close waits for the calls that have been accepted.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 1, Queue: 9, Delay: time.Hour})
		results := make(chan error, 3)
		for range 3 {
			go func() { _, err := q.Do(t.Context(), 1); results <- err }()
		}
		synctest.Wait()
		q.Close()
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestCancel cancels calls: an item that waits makes room in the queue, and a batch is canceled if all its calls are.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Minute}
		q := open(t, r, batch.Options[int, int]{Most: 2, Queue: 2})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		do := func(items ...int) {
			_, err := q.Do(ctx, items...)
			ended <- err
		}
		go do(1, 2)
		synctest.Wait()
		go do(3, 4)
		synctest.Wait()
		began := time.Now()
		cancel()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		synctest.Wait()
		if got := q.Stats(); got != (batch.Stats{}) {
			t.Errorf("after all have left: %+v", got)
		}
		q.Close()
		if fmt.Sprint(r.batches) != "[[1 2]]" || !errors.Is(r.ended[0], context.Canceled) || time.Since(began) != 0 {
			t.Errorf("batches %v ended with %v after %v", r.batches, r.ended, time.Since(began))
		}
		if _, err := q.Do(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended: %v", err)
		}
	})
}

// One of two calls leaves a batch, which the other one still gets.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 2, Queue: 2, Delay: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		go func() {
			if _, err := q.Do(ctx, 5); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the call with a deadline: %v", err)
			}
		}()
		if got, err := q.Do(t.Context(), 6); err != nil || got[0] != 36 {
			t.Errorf("got %v, %v", got, err)
		}
		q.Close()
		if len(r.batches) != 1 || r.ended[0] != nil {
			t.Errorf("batches %v ended with %v", r.batches, r.ended)
		}
	})
}

// A call whose items make Run fail does not end the others of its batch.
func TestCulprit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		var batches [][]int
		q, err := batch.New(batch.Options[int, int]{Most: 8, Queue: 8, Delay: time.Second, Run: func(_ context.Context, items []int) ([]int, error) {
			batches = append(batches, slices.Clone(items))
			if slices.Contains(items, 13) {
				return nil, broken
			}
			return items, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i, items := range [][]int{{1, 2}, {3, 13}, {4}} {
			all.Go(func() {
				time.Sleep(time.Duration(i))
				got, err := q.Do(t.Context(), items...)
				if i == 1 && !errors.Is(err, broken) || i != 1 && (err != nil || !slices.Equal(got, items)) {
					t.Errorf("%v: %v, %v", items, got, err)
				}
			})
		}
		all.Wait()
		if got := q.Stats(); got != (batch.Stats{}) {
			t.Errorf("at the end: %+v", got)
		}
		q.Close()
		if want := "[[1 2 3 13 4] [1 2] [3 13] [4]]"; fmt.Sprint(batches) != want {
			t.Errorf("batches %v, want %s", batches, want)
		}
	})
}

// An error of Run is that of all calls of the batch, once, and of no other one.
func TestRunFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		r := &recorder{err: broken, takes: time.Second}
		q := open(t, r, batch.Options[int, int]{Most: 2, Queue: 8})
		if _, err := q.Do(t.Context(), 1, 2, 3); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		r.mu.Lock()
		r.err = nil
		r.mu.Unlock()
		if got, err := q.Do(t.Context(), 7); err != nil || got[0] != 49 {
			t.Errorf("afterwards: %v, %v", got, err)
		}
		q.Close()
		if fmt.Sprint(r.batches) != "[[1 2] [7]]" {
			t.Errorf("batches %v", r.batches)
		}
	})
	short, err := batch.New(batch.Options[int, int]{Most: 1, Queue: 1, Run: func(context.Context, []int) ([]int, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	if _, err := short.Do(t.Context(), 1); !errors.Is(err, batch.ErrResults) {
		t.Errorf("too few results: %v", err)
	}
}

// A batch is computed while the one before is reported and delivered.
func TestDeliveryOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := batch.New(batch.Options[int, int]{
			Run: func(_ context.Context, items []int) ([]int, error) {
				time.Sleep(time.Second)
				return items, nil
			},
			Most: 1, Queue: 8, Observe: func(batch.Report) { time.Sleep(time.Second) },
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if got, err := q.Do(t.Context(), 1, 2, 3); err != nil || !slices.Equal(got, []int{1, 2, 3}) || time.Since(began) != 4*time.Second {
			t.Errorf("%v, %v after %v", got, err, time.Since(began))
		}
		q.Close()
	})
}

// A call fails if its second batch does, although the results of the first are delivered later than that.
func TestFailureBeforeDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		q, err := batch.New(batch.Options[int, int]{
			Run: func(_ context.Context, items []int) ([]int, error) {
				if items[0] == 2 {
					return nil, broken
				}
				return items, nil
			},
			Most: 1, Queue: 8, Observe: func(batch.Report) { time.Sleep(time.Second) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Do(t.Context(), 1, 2, 3); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		if got, err := q.Do(t.Context(), 4); err != nil || got[0] != 4 {
			t.Errorf("afterwards: %v, %v", got, err)
		}
		q.Close()
	})
}

func TestOptions(t *testing.T) {
	run := func(context.Context, []int) ([]int, error) { return nil, nil }
	for _, o := range []batch.Options[int, int]{{Most: 1, Queue: 1}, {Run: run, Queue: 1}, {Run: run, Most: 1}, {Run: run, Most: 1, Queue: 1, Delay: -1}} {
		if _, err := batch.New(o); !errors.Is(err, batch.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
