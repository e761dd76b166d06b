package strided_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/strided"
)

var layouts = []strided.Layout{
	{Shape: []int{}, Strides: []int{}, Offset: 7},
	{Shape: []int{0, 3}, Strides: []int{3, 1}},
	{Shape: []int{1}, Strides: []int{1}},
	{Shape: []int{6, 5}, Strides: []int{5, 1}, Offset: 3},
	{Shape: []int{31, 17}, Strides: []int{1, 31}},
	{Shape: []int{5, 7, 3}, Strides: []int{1, 15, 5}, Offset: 2},
	{Shape: []int{4, 3}, Strides: []int{0, 2}},
	{Shape: []int{2, 3, 2, 3, 2, 3}, Strides: []int{1, 2, 6, 12, 36, 72}},
	{Shape: []int{2, 1, 3, 2, 3, 2, 1, 3}, Strides: []int{108, 9, 1, 54, 3, 27, 5, 9}},
	{Shape: []int{1000}, Strides: []int{3}},
}

func TestCopy(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			t.Run("uint8", func(t *testing.T) { copies[uint8](t, open) })
			t.Run("uint16", func(t *testing.T) { copies[uint16](t, open) })
			t.Run("uint32", func(t *testing.T) { copies[uint32](t, open) })
			t.Run("uint64", func(t *testing.T) { copies[uint64](t, open) })
		})
	}
}

func copies[T strided.Unit](t *testing.T, open kerneltest.Opener) {
	s := kerneltest.Stream(t, open)
	source := make([]T, 3000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range source {
		source[i] = T(r.Uint64())
	}
	src := kerneltest.Upload(t, s, source)
	for _, l := range layouts {
		t.Run(fmt.Sprint(l.Shape), func(t *testing.T) {
			want := reference(source, l)
			dst := kerneltest.Upload(t, s, make([]T, len(want)))
			if err := strided.Copy(s, dst, src, l); err != nil {
				t.Fatal(err)
			}
			if got := kerneltest.Download(t, s, dst); !slices.Equal(got, want) {
				t.Errorf("%+v: got %v, want %v", l, got, want)
			}
		})
	}
}

// reference returns the elements of a layout in row-major order.
func reference[T any](source []T, l strided.Layout) []T {
	index := make([]int, len(l.Shape))
	var list []T
	if slices.Contains(l.Shape, 0) {
		return list
	}
	for {
		at := l.Offset
		for d, i := range index {
			at += i * l.Strides[d]
		}
		list = append(list, source[at])
		d := len(index) - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < l.Shape[d] {
				break
			}
			index[d] = 0
		}
		if d < 0 {
			return list
		}
	}
}

func TestLayoutsThatDoNotFit(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	src, dst := kerneltest.Upload(t, s, make([]uint32, 10)), kerneltest.Upload(t, s, make([]uint32, 4))
	for _, l := range []strided.Layout{
		{Shape: []int{4}, Strides: []int{4}},
		{Shape: []int{4}, Strides: []int{1}, Offset: 7},
		{Shape: []int{4}, Strides: []int{1}, Offset: -1},
		{Shape: []int{4}, Strides: []int{-1}, Offset: 5},
		{Shape: []int{3}, Strides: []int{1}},
		{Shape: []int{4}, Strides: []int{1 << 62}},
		{Shape: []int{-4}, Strides: []int{1}},
	} {
		if err := strided.Copy(s, dst, src, l); !errors.Is(err, strided.ErrLayout) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
