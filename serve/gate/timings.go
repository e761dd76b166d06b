package gate

import (
	"time"

	"github.com/gopherwarp/gopherwarp/llm"
)

// Timings returns numbers of tokens, times and rates under llama-server's names. The rate of generated tokens does not include the first token,
// because the computation of the prompt yields this token.
func Timings(u llm.Usage) map[string]float64 {
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
	prompt, steps := float64(u.Prompt-u.Known), float64(max(u.Generated-1, 0))
	t := map[string]float64{
		"cache_n": float64(u.Known), "prompt_n": prompt, "prompt_ms": milliseconds(u.First), "predicted_n": float64(u.Generated), "predicted_ms": milliseconds(u.Rest),
	}
	for name, x := range map[string]struct{ n, ms float64 }{"prompt": {prompt, t["prompt_ms"]}, "predicted": {steps, t["predicted_ms"]}} {
		t[name+"_per_second"], t[name+"_per_token_ms"] = 0, 0
		if x.n > 0 && x.ms > 0 {
			t[name+"_per_second"], t[name+"_per_token_ms"] = 1e3/x.ms*x.n, x.ms/x.n
		}
	}
	if u.Drafted > 0 {
		t["draft_n"], t["draft_n_accepted"] = float64(u.Drafted), float64(u.Accepted)
	}
	return t
}
