package llm_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// saboteur lets a number of a model's computations fail: it enqueues a kernel with a fault.
type saboteur struct {
	matrix, x, y *device.Buffer[float32]
	n            atomic.Int64 // computations so far
	from, to     atomic.Int64 // numbers of the computations that fail
	done         atomic.Int64 // computations that have failed
}

func newSaboteur(t *testing.T, dev *device.Device) *saboteur {
	t.Helper()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b := &saboteur{}
	for at, n := range map[**device.Buffer[float32]]int{&b.matrix: 8, &b.x: 64, &b.y: 8} { // the kernel reads 8 rows of 64
		if *at, err = device.Make[float32](s, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Synchronize(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// fail makes n computations fail, after some others.
func (b *saboteur) fail(after, n int64) {
	b.from.Store(b.n.Load() + 1 + after)
	b.to.Store(b.from.Load() + n)
}

// interfere is for Model.Interfere.
func (b *saboteur) interfere(s *device.Stream) error {
	if n := b.n.Add(1); n < b.from.Load() || n >= b.to.Load() {
		return nil
	}
	b.done.Add(1)
	return matvec.Rows32(s, device.Blocks{X: 1}, b.matrix.All(), b.x.All(), b.y.All())
}

// TestFaultOfKernel lets steps fail by faults of kernels, which are reported after later work has been enqueued. If some steps fail, all
// texts go on, on a CPU with the tokens that they have without faults. While all steps fail, the texts end with the fault, and the model
// says that it cannot serve.
func TestFaultOfKernel(t *testing.T) {
	for name, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		t.Run(name, func(t *testing.T) { faults(t, kerneltest.Device(t, open)) })
	}
}

func faults(t *testing.T, dev *device.Device) {
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), llm.Options{Sequences: 4, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := newSaboteur(t, dev)
	m.Interfere(b.interfere)
	prompts, requests := make([]string, 6), make([]llm.Request, 6)
	for i := range prompts {
		prompts[i], requests[i] = fmt.Sprint("text ", i), llm.Request{MaxTokens: 20, Temperature: float64(i % 2), Seed: uint64(i), RepetitionPenalty: 1 + float64(i%3)/10}
	}
	want, _ := texts(t, m, prompts, requests)
	for round := range 8 {
		b.fail(int64(round*5), 1)
		got, last := texts(t, m, prompts, requests)
		for i := range got {
			if got[i] != want[i] && dev.Info().Kind == "cpu" {
				t.Errorf("round %d, text %d with a fault is %q, without %q", round, i, got[i], want[i])
			}
			if last[i].Finish == llm.Unfinished {
				t.Errorf("round %d, text %d with a fault ends with %+v", round, i, last[i])
			}
		}
	}
	if n := b.done.Load(); n != 8 {
		t.Errorf("%d computations failed, want 8", n)
	}
	b.fail(0, 1)
	if got, last := texts(t, m, prompts[:1], requests[:1]); last[0].Finish == llm.Unfinished || got[0] != want[0] && dev.Info().Kind == "cpu" {
		t.Errorf("a text alone with a fault is %q, without %q", got[0], want[0])
	}
	b.fail(0, 1<<40)
	for _, err := range m.Generate(t.Context(), "x", llm.Request{}) {
		if _, fault := errors.AsType[*device.Fault](err); !errors.Is(err, llm.ErrDevice) || !fault {
			t.Errorf("a text whose steps all fail ends with %v", err)
		}
	}
	if _, fault := errors.AsType[*device.Fault](m.Health()); !fault {
		t.Errorf("Health while all steps fail: %v", m.Health())
	}
	b.fail(0, 0)
	for end := time.Now().Add(time.Minute); m.Health() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("a minute after the last fault: %v", m.Health())
		}
	}
	if s := settled(m); s.Running+s.Waiting+s.UsedPages > 0 {
		t.Errorf("afterwards: %+v", s)
	}
	if got, _ := texts(t, m, prompts[:1], requests[:1]); got[0] != want[0] {
		t.Errorf("afterwards: %q, want %q", got[0], want[0])
	}
}
