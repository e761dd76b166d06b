package cuda

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// TestGraphHalfFreed closes the device after a task has freed the first half of a graph.
func TestGraphHalfFreed(t *testing.T) {
	f := newFake()
	b := bare(t, f)
	made, err := b.NewGraph()
	check(t, err)
	check(t, made.Instantiate())
	calls := 0
	err = made.(*graph).destroy(func(name string, do func() cudasys.Status) error {
		if calls++; calls > 1 {
			return nil // as whileOpen does when the device is closed
		}
		return b.do(name, do)
	})
	if err != nil || calls != 2 {
		t.Errorf("%d calls: %v", calls, err)
	}
	check(t, b.Close())
	wantNothingLive(t, f)
}
