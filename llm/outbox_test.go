package llm

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestOutbox checks the order of events, and that a reader is slow only if it is both far behind and idle for long.
func TestOutbox(t *testing.T) {
	o, now := newOutbox(1), time.Now()
	for i := range 10 * unread {
		if !o.put(event{usage: Usage{Generated: i}}, now.Add(slowAfter)) {
			t.Fatalf("slow after %d events in no time", i)
		}
	}
	now = now.Add(3 * slowAfter)
	if o.put(event{usage: Usage{Generated: 10 * unread}}, now) {
		t.Error("not slow, though nothing was taken for long")
	}
	for i := range 10*unread + 1 {
		if e, ok, _ := o.take(now); !ok || e.usage.Generated != i {
			t.Fatalf("event %d is %+v, %t", i, e.usage, ok)
		}
		if i == 0 && !o.put(event{usage: Usage{Generated: 10*unread + 1}}, now) {
			t.Error("slow, though an event was taken just now")
		}
	}
	if _, ok, closed := o.take(now); !ok || closed {
		t.Error("the last event is lost")
	}
	if !o.put(event{}, now.Add(9*slowAfter)) {
		t.Error("slow at an event that had none to wait for")
	}
	o.take(now)
	o.close()
	if _, ok, closed := o.take(now); ok || !closed {
		t.Error("not closed")
	}
}

// TestOutboxWaits checks that a writer that waits goes on when the reader has taken an event.
func TestOutboxWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, done := newOutbox(1), make(chan struct{})
		for range unread {
			o.put(event{}, time.Now())
		}
		go func() {
			o.wait(t.Context())
			close(done)
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("the writer does not wait")
		default:
		}
		o.take(time.Now())
		<-done
	})
}
