package gate_test

import (
	"maps"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

func TestTimings(t *testing.T) {
	got := gate.Timings(llm.Usage{Prompt: 100, Known: 60, Generated: 11, First: 20 * time.Millisecond, Rest: 50 * time.Millisecond})
	want := map[string]float64{
		"cache_n": 60, "prompt_n": 40, "prompt_ms": 20, "prompt_per_second": 2000, "prompt_per_token_ms": 0.5,
		"predicted_n": 11, "predicted_ms": 50, "predicted_per_second": 200, "predicted_per_token_ms": 5,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := gate.Timings(llm.Usage{Drafted: 7, Accepted: 5}); got["draft_n"] != 7 || got["draft_n_accepted"] != 5 {
		t.Errorf("guesses: %v", got)
	}
	for name, x := range gate.Timings(llm.Usage{Prompt: 1, Known: 1, Generated: 1}) {
		if want := map[string]float64{"cache_n": 1, "predicted_n": 1}[name]; x != want {
			t.Errorf("a known prompt and one token: %s is %v, want %v", name, x, want)
		}
	}
}
