package llm_test

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// memory returns the memory in use on a device.
func memory(t *testing.T, dev *device.Device) device.MemoryStats {
	t.Helper()
	if err := dev.Trim(); err != nil {
		t.Fatal(err)
	}
	s, err := dev.MemoryStats()
	if err != nil {
		t.Fatal(err)
	}
	return device.MemoryStats{Used: s.Used, Reserved: s.Reserved, Pinned: s.Pinned, Buffers: s.Buffers}
}

// A closed model returns all its memory to the device, which another model still uses.
func TestReload(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	path := llamatest.Write(t, llamatest.Options{})
	other, err := llm.Open(dev, path, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := text(t, other, "Hi", llm.Request{MaxTokens: 8})
	before := memory(t, dev)
	for range 3 {
		m, err := llm.Open(dev, path, llm.Options{Sequences: 4, Adapters: map[string]string{"a": llamatest.WriteAdapter(t, 1)}})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := text(t, m, "Hi", llm.Request{MaxTokens: 8}); got != want {
			t.Errorf("the text is %q, want %q", got, want)
		}
		if during := memory(t, dev); during.Used <= before.Used {
			t.Errorf("%+v with a second model, %+v with one", during, before)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if after := memory(t, dev); after != before {
			t.Errorf("%+v after the second model, %+v before", after, before)
		}
	}
	if err := errors.Join(other.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
}

// A load that is interrupted returns the error and frees the memory.
func TestInterrupt(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	stop, calls := errors.New("stop"), 0
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Interrupt: func() error {
		if calls++; calls < 5 {
			return nil
		}
		return stop
	}})
	if m != nil || !errors.Is(err, stop) || calls != 5 {
		t.Errorf("Open returns %v, %v after %d calls", m, err, calls)
	}
	if owners := dev.Owners(); len(owners) > 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}
