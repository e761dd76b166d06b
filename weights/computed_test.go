package weights_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
)

// TestComputed reads a tensor in parts, twice: its data are computed at the beginning of each time.
func TestComputed(t *testing.T) {
	calls := 0
	x, err := weights.NewComputed(weights.Spec{Name: "x", Type: weights.U8, Shape: []int{5}}, func() ([]byte, error) {
		calls++
		return fmt.Appendf(nil, "call%d", calls), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		var got []byte
		for off := int64(0); off < 5; off += 2 {
			p := make([]byte, 2)
			k, err := x.ReadAt(p, off)
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			got = append(got, p[:k]...)
		}
		if want := fmt.Sprintf("call%d", n+1); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	failed := errors.New("failed")
	for want, compute := range map[error]func() ([]byte, error){
		failed:            func() ([]byte, error) { return nil, failed },
		weights.ErrFormat: func() ([]byte, error) { return make([]byte, 4), nil },
	} {
		x, err := weights.NewComputed(weights.Spec{Name: "x", Type: weights.U8, Shape: []int{5}}, compute)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Bytes(); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
