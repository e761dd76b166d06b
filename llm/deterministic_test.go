package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestDeterministic compares texts that are generated alone with the same texts among others, also of a model that knows parts of the
// prompts and has little memory.
func TestDeterministic(t *testing.T) {
	for _, c := range []struct {
		name          string
		open          kerneltest.Opener
		of            weights.Type
		texts, tokens int
	}{
		{"F32", cpu.Open, weights.F32, 64, 10}, {"Q4_1", cpu.Open, weights.Q4_1, 64, 12}, {"interp", kerneltest.Executions()["interp"], weights.Q4_1, 2, 2},
		{"cuda", kerneltest.Executions()["cuda"], weights.F32, 64, 40}, {"cuda, Q4_1", kerneltest.Executions()["cuda"], weights.Q4_1, 64, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev := kerneltest.Device(t, c.open)
			if dev.Info().Kind == "cpu" && !sweep.Whole() {
				c.texts = 24 // of each temperature and penalty
			}
			path := llamatest.Write(t, llamatest.Options{Matrices: c.of})
			prompts, requests := make([]string, c.texts), make([]llm.Request, c.texts)
			for i := range prompts {
				prompts[i] = strings.Repeat("the same beginning ", i%3*4) + strings.Repeat(fmt.Sprint(i, " "), 1+i%20)
				prompts[i] = prompts[i][:min(len(prompts[i]), 150)]
				requests[i] = llm.Request{MaxTokens: c.tokens - i%3, Temperature: float64(i % 2), Seed: uint64(i), RepetitionPenalty: 1 + float64(i%4)/10}
			}
			o := llm.Options{Sequences: c.texts, Tokens: 2000, Deterministic: true}
			generate := func(alone bool) (list []string) {
				m, err := llm.Open(dev, path, o)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				if alone {
					for i := range prompts {
						one, _ := text(t, m, prompts[i], requests[i])
						list = append(list, one)
					}
					return list
				}
				list, _ = texts(t, m, prompts, requests)
				if s := settled(m); s.Dropped > 0 || s.Known == 0 && c.texts > 8 {
					t.Errorf("afterwards: %+v", s)
				}
				return list
			}
			want, got := generate(true), generate(false)
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("text %d among others is %q, alone %q", i, got[i], want[i])
				}
			}
		})
	}
}
