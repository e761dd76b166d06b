package spans

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

const (
	mostWaiting = 2048             // spans that wait
	mostInBatch = 512              // spans that are sent at once
	attempts    = 4                // to send a batch
	mostPause   = 30 * time.Second // that the collector may ask for
)

// Stats are numbers of spans.
type Stats struct {
	Exported int64 // the collector has them
	Full     int64 // dropped because too many spans waited
	Failed   int64 // dropped because the collector did not take them
}

// exporter sends spans.
type exporter struct {
	options Options
	to      collector
	cancel  context.CancelFunc // ends what the exporter does
	full    chan struct{}      // receives when a batch is full
	ending  chan struct{}      // is closed by Close
	done    chan struct{}      // is closed when the exporter has ended
	pause   time.Duration      // after the first attempt to send a batch; each further pause is twice as long
	failing bool               // the last batch was dropped; only the exporter's goroutine uses it

	mu      sync.Mutex
	waiting []record
	closed  bool
	stats   Stats
}

// newExporter returns an exporter whose goroutine ends with Close.
func newExporter(o Options) *exporter {
	o.Timeout, o.Interval = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.Interval, 5*time.Second)
	ctx, cancel := context.WithCancel(context.Background())
	e := &exporter{
		options: o, to: collector{o.Endpoint, o.Headers, o.Timeout}, cancel: cancel, pause: time.Second,
		full: make(chan struct{}, 1), ending: make(chan struct{}), done: make(chan struct{}),
	}
	go e.run(ctx)
	return e
}

// add adds an ended span, unless too many wait.
func (e *exporter) add(r record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.waiting) >= mostWaiting {
		e.stats.Full++
		return
	}
	e.waiting = append(e.waiting, r)
	if len(e.waiting) >= mostInBatch {
		select {
		case e.full <- struct{}{}:
		default:
		}
	}
}

// Stats returns the numbers of spans since New.
func (e *exporter) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

// Close sends the waiting spans, but only until ctx is done, and ends the Tracer. Later spans are dropped. Close must be
// called once.
func (e *exporter) Close(ctx context.Context) {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	defer e.cancel()
	stop := context.AfterFunc(ctx, e.cancel)
	defer stop()
	close(e.ending)
	<-e.done
}

// run sends batches until Close.
func (e *exporter) run(ctx context.Context) {
	defer close(e.done)
	tick := time.NewTicker(e.options.Interval)
	defer tick.Stop()
	for ending := false; !ending; {
		select {
		case <-tick.C:
		case <-e.full:
		case <-e.ending:
			ending = true
		}
		for list := e.take(); len(list) > 0; list = e.take() {
			e.count(len(list), e.send(ctx, encode(e.options.Resource, list)))
		}
	}
}

// take removes a batch from the spans that wait.
func (e *exporter) take() []record {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.waiting), mostInBatch)
	list := e.waiting[:n:n]
	if e.waiting = append([]record(nil), e.waiting[n:]...); n == 0 {
		e.waiting = nil
	}
	return list
}

// count counts a batch that has been sent or dropped, and reports if that has changed.
func (e *exporter) count(n int, err error) {
	refused := 0
	if some, ok := errors.AsType[*refusal](err); ok {
		refused = min(some.spans, n)
	} else if err != nil {
		refused = n
	}
	e.mu.Lock()
	e.stats.Exported, e.stats.Failed = e.stats.Exported+int64(n-refused), e.stats.Failed+int64(refused)
	e.mu.Unlock()
	if failed := err != nil; failed != e.failing {
		e.failing = failed
		if e.options.Report != nil {
			e.options.Report(err)
		}
	}
}

// send sends a batch, several times if it must. After Close, it does so once.
func (e *exporter) send(ctx context.Context, body []byte) error {
	pause := e.pause
	for i := 1; ; i++ {
		err := e.to.post(ctx, body)
		again, ok := errors.AsType[*unavailable](err)
		if !ok || i == attempts {
			return err
		}
		timer := time.NewTimer(max(pause, again.pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-e.ending:
		}
		timer.Stop()
		select {
		case <-e.ending:
			return err
		default:
			pause *= 2
		}
	}
}
