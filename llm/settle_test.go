package llm

import (
	"errors"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestSettleEnded generates two texts of a request whose reader is slow: the guesses of the first one end both, and those of the second one
// are settled afterwards.
func TestSettleEnded(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	m, err := Open(dev, path, Options{Sequences: 2, DraftTokens: 7, DraftModel: path})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	list := m.newCall(t.Context(), task{[]int32{'a', 'b'}, Request{N: 2, IgnoreEnd: true}})
	events := list[0].events
	events.events, events.since, events.limit = []event{{}}, time.Now().Add(-2*slowAfter), 13 // in the second step of the first text
	if err := m.engine.submit(list); err != nil {
		t.Fatal(err)
	}
	closed := func() bool {
		events.mu.Lock()
		defer events.mu.Unlock()
		return events.closed
	}
	for end := time.Now().Add(time.Minute); !closed() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if s := m.Stats(); !closed() || !errors.Is(list[0].err, ErrSlow) || s.Drafts != 2 {
		t.Errorf("closed %t, %v; %+v", closed(), list[0].err, s)
	}
	for _, err := range m.Continue(t.Context(), []int32{'a'}, Request{MaxTokens: 5}) {
		if err != nil {
			t.Error(err)
		}
	}
}
