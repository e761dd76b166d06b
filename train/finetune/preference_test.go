package finetune

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// preferenceLines are preferences with answers of different lengths.
const preferenceLines = `{"prompt": "1+1=", "chosen": "2", "rejected": "three"}
{"prompt": "2+2=", "chosen": "four", "rejected": "5"}
{"chosen": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "rejected": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "ccc"}]}
`

// preferenceTrainer returns a Trainer with preferences, whose adapter has other values than at first.
func preferenceTrainer(t *testing.T) *Trainer {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "preferences.jsonl")
	if err := os.WriteFile(data, []byte(preferenceLines), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := New(dev, Config{Model: llamatest.Write(t, llamatest.Options{}), Data: []string{data}, Out: t.TempDir(), Rank: 2, DPO: true, Beta: 0.3, Length: 150})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(tr.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	err = tensor.RunOn(t.Context(), tr.stream, func(s *tensor.Scope) error {
		m, err := tr.adapter.Params().Memory(s)
		if err != nil {
			return err
		}
		values := make([]float32, m.Master.Len())
		for i := range values {
			values[i] = float32(i*i%23-11) / 30
		}
		return device.UploadTo(tr.stream, m.Master, values)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// logProbabilities returns those of the texts of a pack, computed from the logits of the model in float64.
func logProbabilities(t *testing.T, tr *Trainer, pack text.Pack) (list []float64) {
	t.Helper()
	var logits []float32
	err := tensor.RunOn(t.Context(), tr.stream, func(s *tensor.Scope) error {
		x, err := tr.model.Read(s, packed(pack))
		if err != nil {
			return err
		}
		logits, err = tensor.Values[float32](t.Context(), tr.model.Logits(x))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, n := range pack.Lengths {
		sum := 0.0
		for i := at; i < at+n; i++ {
			if label := pack.Labels[i]; label >= 0 {
				sum += logSoftmax(logits[i*tr.model.Vocabulary:][:tr.model.Vocabulary], int(label))
			}
		}
		list = append(list, sum)
		at += n
	}
	return list
}

// logSoftmax returns the logarithm of the softmax of an element.
func logSoftmax(list []float32, at int) float64 {
	sum := 0.0
	for _, v := range list {
		sum += math.Exp(float64(v - list[at]))
	}
	return -math.Log(sum)
}

// gradients returns the derivatives with respect to the adapter of what f returns.
func gradients(t *testing.T, tr *Trainer, f func(s *tensor.Scope) error) (g []float32) {
	t.Helper()
	err := tensor.RunOn(t.Context(), tr.stream, func(s *tensor.Scope) error {
		s.Record()
		if err := f(s); err != nil {
			return err
		}
		m, err := tr.adapter.Params().Memory(s)
		if err != nil {
			return err
		}
		if g, err = tensor.Values[float32](t.Context(), s.Use(m.Grads)); err != nil {
			return err
		}
		return tr.opt.Clear(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestPreferences compares the loss of direct preference optimization with a reference in float64, and its derivatives with those of the losses of tokens,
// weighted by the derivatives of that reference.
func TestPreferences(t *testing.T) {
	tr := preferenceTrainer(t)
	pack := tr.packs[0]
	if pack.Pairs != 3 || len(tr.packs) != 1 {
		t.Fatalf("%d packs, the first with %d preferences", len(tr.packs), pack.Pairs)
	}
	policy := logProbabilities(t, tr, pack)
	if err := tr.model.Adapt(nil); err != nil {
		t.Fatal(err)
	}
	reference := logProbabilities(t, tr, pack)
	if err := tr.model.Adapt(tr.adapter); err != nil {
		t.Fatal(err)
	}
	var want, right float64
	weights := make([]float32, 0, pack.Learned)
	at := 0
	for i, n := range pack.Lengths {
		pair := i / 2 * 2
		z := tr.config.Beta * (policy[pair] - reference[pair] - policy[pair+1] + reference[pair+1])
		if i%2 == 0 {
			want += math.Log1p(math.Exp(-z)) / 3
			if z > 0 {
				right++
			}
		}
		slope := tr.config.Beta / (1 + math.Exp(z)) / 3 // of the loss with respect to the loss of a chosen token
		for _, label := range pack.Labels[at : at+n] {
			if label >= 0 {
				weights = append(weights, float32(slope*float64(1-i%2*2)))
			}
		}
		at += n
	}
	var r result
	got := gradients(t, tr, func(s *tensor.Scope) (err error) {
		r, err = tr.loss(s, pack, 1)
		return err
	})
	if math.Abs(r.loss-want) > 1e-5 || float64(r.right) != right || math.Abs(want-math.Ln2) < 0.01 {
		t.Errorf("the loss is %v with %d of 3 right, want %v and %v", r.loss, r.right, want, right)
	}
	expected := gradients(t, tr, func(s *tensor.Scope) error {
		x, err := tr.model.Read(s, packed(pack))
		if err != nil {
			return err
		}
		s.Backward(tr.model.Losses(x, pack.Labels).Mul(tensor.From(s, weights, len(weights))).Sum())
		return s.Err()
	})
	var difference, norm float64
	for i, v := range expected {
		difference += math.Pow(float64(got[i]-v), 2)
		norm += float64(v) * float64(v)
	}
	if norm == 0 || !(math.Sqrt(difference/norm) < 1e-5) {
		t.Errorf("derivatives differ by %g of their norm %g", math.Sqrt(difference/norm), math.Sqrt(norm))
	}
}
