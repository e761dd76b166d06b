package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestMain lets the program of the tests be a child, as the command does.
func TestMain(m *testing.M) {
	if isChild(os.Args) {
		os.Exit(runChild(os.Args))
	}
	os.Exit(m.Run())
}

// TestRun measures a small model.
func TestRun(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out bytes.Buffer
	p := plan{model: llamatest.Write(t, llamatest.Options{}), users: []int{1, 3}, requests: 2, tokens: 5, words: 2}
	if err := run(t.Context(), &out, p); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(strings.TrimSpace(lines[2]), "1 ") || !strings.HasPrefix(strings.TrimSpace(lines[3]), "3 ") {
		t.Errorf("the table is\n%s", out.String())
	}
}

// TestPrompts checks that prompts have a common beginning of the words that they share, and no more.
func TestPrompts(t *testing.T) {
	for shared, want := range map[int]string{0: "", 2: "fox bear "} {
		l := load{plan: plan{words: 3, shared: shared}}
		a, b := l.prompt(1), l.prompt(2)
		if !strings.HasPrefix(a, want+"1 ") || !strings.HasPrefix(b, want+"2 ") || len(strings.Fields(a)) != shared+6+3 {
			t.Errorf("with %d shared words, prompts are %q and %q", shared, a, b)
		}
	}
}

// TestLoads measures loads that last for a time, of a model that is made in memory.
func TestLoads(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out bytes.Buffer
	p := plan{
		Shape: random.Shape{Layers: 1, Hidden: 32, FFN: 64, Heads: 2, KeyHeads: 1, HeadDim: 16, Vocabulary: 600, Context: 4096},
		users: []int{2}, loads: []string{"shared", "histogram"}, warm: 50 * time.Millisecond, span: 100 * time.Millisecond,
	}
	if err := run(t.Context(), &out, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shared, engine  ", "shared, HTTP  ", "histogram, engine  ", "histogram, HTTP  ", "of the engine  "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	p.loads, p.adapters = []string{"histogram"}, 3
	if err := run(t.Context(), &out, p); err != nil || !strings.Contains(out.String(), "histogram, 0 adapters  ") || !strings.Contains(out.String(), "histogram, 3 adapters  ") || !strings.Contains(out.String(), "of none  ") {
		t.Errorf("with adapters, %v:\n%s", err, out.String())
	}
	p.loads = []string{"other"}
	if err := run(t.Context(), &out, p); err == nil || !strings.Contains(err.Error(), "histogram mixed distinct shared") {
		t.Errorf("a load that does not exist: %v", err)
	}
}

// TestAttack attacks a small model for a short time. Bounds of times are those of a machine that does much else.
func TestAttack(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out bytes.Buffer
	p := plan{
		model: llamatest.Write(t, llamatest.Options{}), users: []int{3}, tokens: 12, words: 3, span: 250 * time.Millisecond,
		attack: true, siege: siege{places: 6, idle: 50, slow: 20, refused: time.Second, settled: 10 * time.Second},
	}
	if err := run(t.Context(), &out, p); err != nil {
		t.Error(err)
	}
	for _, a := range attacks("cpu") {
		if !strings.Contains(out.String(), a.name) {
			t.Errorf("the table lacks %q", a.name)
		}
	}
	t.Logf("\n%s", out.String())
}

// TestLengths compares the means of random lengths with those that the comment of the tables states.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		list []quantile
		want float64
	}{{promptLengths, 216}, {answerLengths, 208}} {
		r, sum := rand.New(rand.NewPCG(1, 2)), 0.0
		const n = 100000
		for range n {
			v := draw(r, c.list)
			if v < 4 || v > 1024 {
				t.Fatalf("a length of %d", v)
			}
			sum += float64(v)
		}
		if math.Abs(sum/n-c.want) > 3 {
			t.Errorf("the mean is %.1f, want %.0f", sum/n, c.want)
		}
	}
}
