package llm_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// A CPU waits for the host between all steps, because the host enqueues a step after the one before has ended.
func TestIdle(t *testing.T) {
	m := openOn(t, kerneltest.Device(t, cpu.Open), llamatest.Write(t, llamatest.Options{}))
	text(t, m, "Hello", llm.Request{MaxTokens: 20})
	if s := m.Stats(); s.Idle <= 0 || s.Idle >= s.All {
		t.Errorf("the device was idle for %v of %v", s.Idle, s.All)
	}
}
