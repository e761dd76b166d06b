package faults

import (
	_ "embed"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed searches.go
var searchesText string

// search stores where in the elements of a from first to last, which ascend, key would be: by the middle of two numbers, and by
// half of their distance.
//
//gpu:kernel
//gpu:block 1
func search(t gpu.Thread, a, places []int32, first, last int, key int32) {
	low, high := first, last
	for low < high {
		if middle := (low + high) / 2; a[middle] < key { // search
			low = middle + 1
		} else {
			high = middle
		}
	}
	places[0] = int32(low)
	low, high = first, last
	for low < high {
		middle := low + (high-low)/2
		if a[middle] >= key {
			high = middle
			continue
		}
		low = middle + 1
	}
	places[1] = int32(low)
}

// searchCases are about the middle of an interval, which a compiler can compare with the length before the loop: the interval
// is in range, is not but all that is looked at is, is not, or the numbers overflow.
func searchCases() []check.Case {
	return []check.Case{
		{Name: "search", Run: func(r *check.Run) { searchIn10(r, [2]int{0, 10}, 7, 7) }},
		{Name: "search, in a part", Run: func(r *check.Run) { searchIn10(r, [2]int{3, 6}, 9, 6) }},
		{Name: "search, in nothing", Run: func(r *check.Run) { searchIn10(r, [2]int{5, 5}, 9, 5) }},
		{Name: "search, in less than nothing", Run: func(r *check.Run) { searchIn10(r, [2]int{5, math.MinInt64}, 9, 5) }},
		{Name: "search, before the end of more than there is", Run: func(r *check.Run) { searchIn10(r, [2]int{0, 19}, 4, 4) }},
		{Name: "search, from a negative number", Run: func(r *check.Run) { searchIn10(r, [2]int{-1, 10}, 8, 8) }},
		{Name: "search, beyond the end", Run: func(r *check.Run) { searchFault(r, 0, 21, "index out of range [10] with length 10") }},
		{Name: "search, before the start", Run: func(r *check.Run) { searchFault(r, -9, 2, "index out of range [-3]") }},
		{Name: "search, up to the largest number", Run: func(r *check.Run) {
			searchFault(r, 1, math.MaxInt64, "index out of range [-4611686018427387904]")
		}},
	}
}

// searchIn10 searches for a key in a part of 0, 1, ..., 9.
func searchIn10(r *check.Run, part [2]int, key, want int32) {
	places := check.Make[int32](r, 2)
	r.Launch(Search(r.Stream, device.Dim{X: 1}, check.Upload(r, ascending(10)...), places, part[0], part[1], key))
	check.Want(r, places, want, want)
}

func searchFault(r *check.Run, first, last int, message string) {
	r.Launch(Search(r.Stream, device.Dim{X: 1}, check.Upload(r, ascending(10)...), check.Make[int32](r, 2), first, last, 3))
	r.Fault(device.Fault{Kernel: "search", File: "searches.go", Line: check.Line(searchesText, "search"), Message: message})
	again(r)
}
