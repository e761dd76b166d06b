package finetune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestBuckets checks that buckets cover all elements once, and are ready in order when all their elements are complete.
func TestBuckets(t *testing.T) {
	for _, b := range []struct{ length, size int }{{100, 30}, {90, 30}, {5, 30}, {30, 1}} {
		at := b.length
		for i, x := range buckets(b.length, b.size) {
			begin, end := x[0], x[1]
			if end != at || begin >= end || end-begin > b.size {
				t.Errorf("%+v: bucket %d is %d to %d", b, i, begin, end)
			}
			at = begin
		}
		if at != 0 {
			t.Errorf("%+v: %d elements are in no bucket", b, at)
		}
	}
	f := newFilling(buckets(100, 30)) // 70-100, 40-70, 10-40, 0-10
	for _, x := range []struct{ begin, end, ready int }{{80, 100, 0}, {20, 64, 0}, {64, 80, 2}, {0, 5, 0}, {5, 15, 0}, {15, 20, 2}} {
		if got := f.complete(x.begin, x.end); got != x.ready {
			t.Errorf("after %d to %d, %d buckets are ready, want %d", x.begin, x.end, got, x.ready)
		}
	}
}

// onHost sums ranges on the host, on the streams of the sums.
type onHost struct {
	sums *sums
	done int // ranges that were summed
	fail int // the number of the range that fails, from 1
}

// reducer returns a function like sums.reduce.
func (h *onHost) reducer(grads []*tensor.Tensor) (func(begin, end int) error, error) {
	all, err := tensor.SlicesOf[float32](grads...)
	return func(begin, end int) error {
		if h.done++; h.done == h.fail {
			return errors.New("a sum fails")
		}
		var lists [][]float32
		var errs []error
		for i, x := range all {
			list := make([]float32, end-begin)
			errs = append(errs, device.Download(h.sums.streams[i], list, x.Slice(begin, end)), h.sums.streams[i].Synchronize(context.Background()))
			lists = append(lists, list)
		}
		sum := singles().sum(lists)
		for i, x := range all {
			errs = append(errs, device.UploadTo(h.sums.streams[i], x.Slice(begin, end), sum))
		}
		return errors.Join(errs...)
	}, err
}

// TestExchange trains with sums in small buckets while the backward passes go on. The losses are those of sums after them.
func TestExchange(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, `{"prompt": "%d+1=", "completion": "%d"}`+"\n", i, i+1)
	}
	data := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var devices []*device.Device
	for range 2 {
		dev, err := cpu.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		devices = append(devices, dev)
	}
	model := llamatest.Write(t, llamatest.Options{})
	training := func(method string, batch, bucket, fail int) (losses []float64, h onHost, err error) {
		c := Config{Model: model, Data: []string{data}, Out: filepath.Join(t.TempDir(), "out"), Method: method, Rate: 0.01, Batch: batch, Length: 24, Seed: 1}
		tr, err := New(devices[0], c, devices[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		h = onHost{sums: &tr.sums, fail: fail}
		if bucket != 0 {
			for _, dev := range devices {
				s, err := dev.NewStream()
				if err != nil {
					t.Fatal(err)
				}
				tr.sums.streams = append(tr.sums.streams, s)
			}
			tr.sums.bucket, tr.sums.reduce = max(bucket, -bucket), h.reducer
		}
		if bucket < 0 {
			p, err := newPeers[float32](tr.sums.streams, -bucket/4)
			if err != nil {
				t.Fatal(err)
			}
			defer p.close()
			tr.sums.reduce = p.reduce
		}
		err = tr.Run(t.Context(), func(p Progress) error {
			losses = append(losses, p.Loss, p.Norm)
			return nil
		})
		return losses, h, errors.Join(err, tr.Close())
	}
	for batch, method := range map[int]string{2: "lora", 3: full} { // with 3, the last step has a pack for one device only
		want, _, err := training(method, batch, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, bucket := range []int{4 << 10, 1 << 20} {
			got, h, err := training(method, batch, bucket, 0)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, buckets of %d: losses %v, want %v, %v", method, bucket, got, want, err)
			}
			got, _, err = training(method, batch, -bucket, 0)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, copies in buckets of %d: losses %v, want %v, %v", method, bucket, got, want, err)
			}
			if steps := len(got) / 2; bucket < 1<<20 && h.done < 3*steps {
				t.Errorf("%d sums in %d steps", h.done, steps)
			}
		}
	}
	if _, h, err := training(full, 2, 4<<10, 5); err == nil || !strings.Contains(err.Error(), "a sum fails") || h.done != 5 {
		t.Errorf("after %d sums: %v", h.done, err)
	}
}
