package finetune

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// scaling makes TestScaling measure trainings.
var scaling = flag.String("scaling", "", "measure trainings in TestScaling: large on one GPU and on two, two on two GPUs only, zero on two GPUs with a divided optimizer and without, zero-alone for the memory of the same as two devices of one GPU, or small or small-zero on CPU devices to try it")

// scaled is a training that is measured.
type scaled struct {
	name   string
	shape  random.Shape
	method string
	length int // of a pack
	texts  int // in a pack
	steps  int
}

// TestScaling measures the tokens a second of trainings of models with random weights on one device and on two, of which each has as much work as
// the single one. The parameters of both have the same bits after the steps.
func TestScaling(t *testing.T) {
	open := func(int) (*device.Device, error) { return cpu.Open() }
	var list []scaled
	switch *scaling {
	case "":
		t.Skip("takes two minutes on two GPUs; -scaling large runs it")
	case "large", "two", "zero", "zero-alone":
		open = func(i int) (*device.Device, error) {
			if *scaling == "zero-alone" {
				i = 0
			}
			return cuda.Open(i)
		}
		list = []scaled{
			{"1B, full", random.Shape{Layers: 16, Hidden: 2048, FFN: 5504, Heads: 32, KeyHeads: 32, HeadDim: 64, Vocabulary: 32768, Context: 4096}, full, 4096, 2, 16},
			{"8B, LoRA", random.Llama8B(), "lora", 2048, 1, 12},
		}
	default:
		small := random.Shape{Layers: 2, Hidden: 64, FFN: 128, Heads: 4, KeyHeads: 2, HeadDim: 16, Vocabulary: 600, Context: 128}
		list = []scaled{{"small, full", small, full, 64, 2, 6}, {"small, LoRA", small, "lora", 32, 1, 6}}
	}
	var devices []*device.Device
	for i := range 2 {
		dev, err := open(i)
		if err != nil {
			t.Skipf("the test needs two devices: %v", err)
		}
		defer dev.Close()
		devices = append(devices, dev)
	}
	for _, x := range list {
		t.Run(x.name, func(t *testing.T) { x.compare(t, devices) })
	}
}

// compare trains on one device and on two.
func (x scaled) compare(t *testing.T, devices []*device.Device) {
	c := Config{Model: filepath.Join(t.TempDir(), "model"), Method: x.method, Length: x.length, Steps: x.steps, Epochs: 1, Rate: 1e-5}
	began := time.Now()
	if err := random.WriteFolder(c.Model, x.shape, 1); err != nil {
		t.Fatal(err)
	}
	c.Data = []string{x.data(t, c.Model)}
	t.Logf("written in %.1f s", time.Since(began).Seconds())
	zero := c
	zero.Zero = 1
	if strings.Contains(*scaling, "zero") {
		for range 2 { // the first peak is that of the divided optimizer, all later ones that of the whole
			divided, whole := x.measure(t, zero, devices), x.measure(t, c, devices)
			t.Logf("%s: %.0f tokens/s on two devices, %.0f with a divided optimizer: %.3f times as many", x.name, whole, divided, divided/whole)
		}
		return
	}
	if *scaling == "two" {
		x.measure(t, c, devices)
		return
	}
	one := x.measure(t, c, devices[:1])
	two := x.measure(t, c, devices)
	t.Logf("%s: %.0f tokens/s on one device, %.0f on two: %.3f times as many", x.name, one, two, two/one)
}

// data writes a file of texts for all steps on two devices.
func (x scaled) data(t *testing.T, model string) string {
	t.Helper()
	f, err := llm.OpenFiles(model)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Weights.Close()
	r := rand.New(rand.NewPCG(1, 2))
	name := filepath.Join(t.TempDir(), "data.jsonl")
	to, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	for range 2 * x.steps * x.texts {
		ids := make([]int32, x.length/x.texts-2) // the tokenizer adds a token at the begin, and text.Read one at the end
		for i := range ids {
			ids[i] = 256 + r.Int32N(int32(x.shape.Vocabulary-512))
		}
		if err := json.NewEncoder(to).Encode(map[string]string{"text": f.Tokenizer.Decode(ids)}); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// errMeasured ends a training that has been measured.
var errMeasured = errors.New("measured")

// measure returns the tokens a second of a training.
func (x scaled) measure(t *testing.T, c Config, devices []*device.Device) float64 {
	t.Helper()
	c.Out, c.Batch = filepath.Join(t.TempDir(), "out"), len(devices)
	began := time.Now()
	tr, err := New(devices[0], c, devices[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	loaded := time.Since(began)
	var times []time.Duration
	var losses []float64
	var last Progress
	began = time.Now()
	err = tr.Run(t.Context(), func(p Progress) error {
		if times = append(times, time.Since(began)); p.Tokens != p.Step*x.length*len(devices) {
			return fmt.Errorf("%d tokens after %d steps", p.Tokens, p.Step)
		}
		losses, last = append(losses, p.Loss), p
		if began = time.Now(); p.Step == x.steps-1 {
			return errMeasured // before the result is written
		}
		return nil
	})
	if !errors.Is(err, errMeasured) {
		t.Fatal(err)
	}
	const warm = 3
	took := median(times[warm:])
	t.Logf("%d devices, zero %d: loaded in %.1f s; step %.2f ms (%.2f to %.2f), first steps %v; losses %.4f to %.4f; peak %.2f GiB", len(devices), c.Zero, loaded.Seconds(), ms(took), ms(slices.Min(times[warm:])),
		ms(slices.Max(times[warm:])), times[:warm], losses[0], last.Loss, float64(last.Memory)/(1<<30))
	if p := tr.Plan(); strings.Contains(*scaling, "zero") {
		t.Logf("the plan is %.2f GiB; masters %.2f, optimizer %.2f", float64(p.Total)/(1<<30), float64(p.Masters)/(1<<30), float64(p.Optimizer)/(1<<30))
	}
	x.phases(t, tr)
	x.ways(t, tr)
	if err := tr.same(t.Context()); err != nil {
		t.Error(err)
	}
	return float64(x.length*len(devices)) / took.Seconds()
}

// phases measures the parts of a step: the forward and backward passes, the sums of derivatives, and the update.
func (x scaled) phases(t *testing.T, tr *Trainer) {
	t.Helper()
	ctx := t.Context()
	var learn, sum, update []time.Duration
	packs := tr.packs[:tr.config.Batch]
	wait := func() {
		for _, r := range tr.replicas {
			if err := r.stream.Synchronize(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 7 {
		began := time.Now()
		_, err := tr.learnAll(ctx, packs, 1)
		wait()
		learned := time.Now()
		err = errors.Join(err, tr.sums.add(ctx, tr))
		wait()
		summed := time.Now()
		_, failed := tr.apply(ctx)
		wait()
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		learn, sum, update = append(learn, learned.Sub(began)), append(sum, summed.Sub(learned)), append(update, time.Since(summed))
	}
	t.Logf("learn %.2f ms, sum %.2f ms, update %.2f ms", ms(median(learn)), ms(median(sum)), ms(median(update)))
}

// ways measures steps with sums by NCCL and by copies, and with buckets of several sizes, in turns.
func (x scaled) ways(t *testing.T, tr *Trainer) {
	t.Helper()
	if tr.sums.reduce == nil || *scaling == "zero-alone" { // where NCCL does not work
		return
	}
	type way struct {
		size int // of a bucket
		nccl bool
	}
	times := map[way][]time.Duration{}
	list := []way{{128 << 20, false}, {128 << 20, true}, {32 << 20, false}, {32 << 20, true}, {1 << 40, true}}
	if tr.divided() {
		list = list[:2] // the parts of the optimizers are those of buckets of 128 MiB
	}
	for range 2 {
		for _, w := range list {
			if err := tr.use(w.size, w.nccl); err != nil {
				t.Fatal(err)
			}
			for range 7 {
				began := time.Now()
				if _, err := tr.step(t.Context()); err != nil {
					t.Fatal(err)
				}
				times[w] = append(times[w], time.Since(began))
			}
		}
	}
	for _, w := range list {
		t.Logf("NCCL %v, buckets of %d MiB: step %.2f ms (%.2f to %.2f)", w.nccl, w.size>>20, ms(median(times[w])), ms(slices.Min(times[w])), ms(slices.Max(times[w])))
	}
	x.phases(t, tr)
}

// use makes the sums of a Trainer use NCCL or copies, with buckets of a size.
func (t *Trainer) use(size int, nccl bool) error {
	x := sums{bucket: size}
	for _, r := range t.replicas {
		s, err := r.device.NewStream()
		if err != nil {
			return err
		}
		x.streams = append(x.streams, s)
	}
	err := t.sums.close()
	if nccl {
		err = errors.Join(err, x.join(nil))
	} else {
		err = errors.Join(err, x.copy(t.subject.Params().Activations()))
	}
	t.sums = x
	return err
}

// same compares the parameters of all replicas, as far as all have them.
func (t *Trainer) same(ctx context.Context) error {
	err := sameElements(ctx, t, func(m *nn.Memory) (device.Slice[float32], error) {
		if m.Divided() {
			return m.Master.Slice(0, m.Vectors()), nil
		}
		return m.Master, nil
	})
	if t.subject.Params().Activations() != dtype.BFloat16 {
		return err
	}
	return errors.Join(err, sameElements(ctx, t, func(m *nn.Memory) (device.Slice[dtype.BF16], error) { return tensor.SliceOf[dtype.BF16](m.Values) }))
}

// sameElements compares elements of all replicas.
func sameElements[T comparable](ctx context.Context, t *Trainer, of func(m *nn.Memory) (device.Slice[T], error)) error {
	memories, err := t.memories(ctx)
	if err != nil {
		return err
	}
	const part = 1 << 26
	for at := 0; ; at += part {
		var first []T
		for i, m := range memories {
			from, err := of(m)
			if err != nil || at >= from.Len() {
				return err
			}
			list, s := make([]T, min(part, from.Len()-at)), t.replicas[i].stream
			if err := errors.Join(device.Download(s, list, from.Slice(at, at+len(list))), s.Synchronize(ctx)); err != nil {
				return err
			}
			if i == 0 {
				first = list
			}
			if !slices.Equal(first, list) {
				return fmt.Errorf("the parameters of device %d differ", i)
			}
		}
	}
}

func median(list []time.Duration) time.Duration {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

func ms(d time.Duration) float64 { return 1e3 * d.Seconds() }
