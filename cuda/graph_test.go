package cuda

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// TestGraphHalfFreed closes the device when a task has freed the first half of a graph.
func TestGraphHalfFreed(t *testing.T) {
	f := newFake()
	m := on(f, nil)
	d, err := m.start()
	if err != nil {
		t.Fatal(err)
	}
	handle, info, err := m.describe(d, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBackend(d, handle, info)
	if err != nil {
		t.Fatal(err)
	}
	made, err := b.NewGraph()
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Instantiate(); err != nil {
		t.Fatal(err)
	}
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
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	wantNothingLive(t, f)
}
