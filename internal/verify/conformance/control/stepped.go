package control

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// interval is where loops begin and end, with a step, and numbers that no compiler knows.
type interval struct {
	Start, End, Step int
	Most, Least      int
}

// stepped has sums of elements that loops visit in a way a field.
type stepped struct {
	Fours, FoursExactly, Threes, AtMost, AtMostThrees, Steps, StepsBack      int32
	Down, DownTo, DownThrees, NotEqual, NotEqualTwos, NotEqualDown, Unsigned int32
	UnsignedDown, Short, ShortDown, Byte, ByteWraps, ByteDown, WordAtMost    int32
	Two, TwoDown, TwoSteps, NearMost, NearLeast, PastMost, Remainder, Bits   int32
	Unrolled, UnrolledRest, UnrolledUnknown, UnrolledDown, UnrolledBreak     int32
	UnrolledWhile, UnrolledContinue, UnrolledNest, UnrolledByte, Rolled      int32
	Meet, MeetSteps, MeetNearMost                                            int32
}

//gpu:kernel
func stepSums(t gpu.Thread, a []int32, in []interval, out []stepped) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = stepAll(a, in[i])
	}
}

// stepAll visits elements of a, of which there are elements.
func stepAll(a []int32, r interval) (s stepped) {
	rising(a, r, &s)
	falling(a, r, &s)
	shortCounters(a, r, &s)
	extremes(a, r, &s)
	unrolledLoops(a, r, &s)
	return s
}

// elements is the number of elements that stepAll reads.
const elements = 64

func rising(a []int32, r interval, s *stepped) {
	for i := r.Start; i < r.End; i += 4 {
		s.Fours += a[i] * int32(i+1)
	}
	b := a[:(r.End+3)&^3]
	for i := 0; i < r.End; i += 4 {
		s.FoursExactly += b[i] + b[i+3]*3
	}
	for i := r.Start; i < r.End; i += 3 {
		s.Threes = s.Threes*3 + a[i]
	}
	for i := r.Start; i <= r.End; i++ {
		s.AtMost = s.AtMost*3 + a[i]
	}
	for i := r.Start; i <= r.End; i += 3 {
		s.AtMostThrees = s.AtMostThrees*3 + a[i]
	}
	for i := r.Start; i < r.End-r.Step+1; i += r.Step {
		s.Steps = s.Steps*3 + a[i+r.Step-1]
	}
	for i := r.Start; i != r.End && i < elements-1; i++ {
		s.NotEqual = s.NotEqual*3 + a[i]
	}
	for i := r.End &^ 1; i != 0; i -= 2 {
		s.NotEqualTwos = s.NotEqualTwos*3 + a[i]
	}
	for i := range r.End {
		s.Remainder = s.Remainder*3 + a[(i-1+r.End)%r.End]
	}
	for i := r.Start; i <= r.End; i++ {
		s.Bits = s.Bits*3 + a[i*i&(r.Step*8-1)]
	}
	for i, k := r.Start, 2; i < r.End; i, k = i+1, k+1 {
		s.Two = s.Two*3 + a[i] - a[k&63]
	}
	for i, k := r.Start, r.End; i < k; i, k = i+1, k-1 {
		s.Meet = s.Meet*3 + a[i] - a[k]*5
	}
	for i, k := 0, r.End; i < k; i, k = i+3, k-2 {
		s.MeetSteps = s.MeetSteps*3 + a[i] - a[k]*5
	}
	for i, k := 0, r.End; i < r.End; i, k = i+2, k-1 {
		s.TwoSteps = s.TwoSteps*3 + a[i] - a[k]
	}
}

func falling(a []int32, r interval, s *stepped) {
	for i := r.End - 1; i >= r.Start; i-- {
		s.Down = s.Down*3 + a[i]
	}
	for i := r.End; i > 0; i-- {
		s.DownTo = s.DownTo*3 + a[i-1]
	}
	for i := r.End; i >= r.Start; i -= 3 {
		s.DownThrees = s.DownThrees*3 + a[i]
	}
	for i := r.End; i > r.Start; i -= r.Step {
		s.StepsBack = s.StepsBack*3 + a[i]
	}
	for i := r.End; i != 0; i-- {
		s.NotEqualDown = s.NotEqualDown*3 + a[i]
	}
	for i, k := r.End-1, 0; i >= 0; i, k = i-1, k+1 {
		s.TwoDown = s.TwoDown*3 + a[i] - a[k]
	}
}

func shortCounters(a []int32, r interval, s *stepped) {
	for i := uint(r.Start); i < uint(r.End); i++ {
		s.Unsigned = s.Unsigned*3 + a[i]
	}
	for i := uint(r.End); i > uint(r.Start); i-- {
		s.UnsignedDown = s.UnsignedDown*3 + a[i]
	}
	for i := int32(r.Start); i <= int32(r.End); i += 2 {
		s.Short = s.Short*3 + a[i]
	}
	for i := int32(r.End); i >= 0; i -= 5 {
		s.ShortDown = s.ShortDown*3 + a[i]
	}
	for i := uint8(r.Start); i < uint8(r.End); i += 3 {
		s.Byte = s.Byte*3 + a[i]
	}
	rounds, most := 0, int8(r.End|127)
	for i := int8(r.End + 64); i <= most; i += 3 { // a number of 8 bits is always at most that
		if rounds++; rounds > 150 {
			break
		}
		s.ByteWraps = s.ByteWraps*3 + a[(int(i)+128)/4]
	}
	for i := uint8(r.End + 150); i >= 150; i -= 7 {
		s.ByteDown = s.ByteDown*3 + a[i-150]
	}
	for i := int16(r.Start - 30); i <= int16(r.End-30); i++ {
		s.WordAtMost = s.WordAtMost*3 + a[i+30]
	}
}

func extremes(a []int32, r interval, s *stepped) {
	first := r.Most - r.End&^1
	for i := first; i < r.Most; i += 2 {
		s.NearMost = s.NearMost*3 + a[i-first]
	}
	for i := r.Least + r.End; i > r.Least; i-- {
		s.NearLeast = s.NearLeast*3 + a[i-r.Least]
	}
	rounds := 0
	for i, k := r.Most-9, r.Most; i < k; i, k = i+4, k-1 {
		s.MeetNearMost = s.MeetNearMost*3 + a[k-(r.Most-9)]
	}
	for i := r.Most - 5; i <= r.Most; i += 3 { // never more than that: it wraps around
		if rounds++; rounds > 3 {
			break
		}
		s.PastMost = s.PastMost*3 + a[(i-r.Most+5)&63]
	}
}

func unrolledLoops(a []int32, r interval, s *stepped) {
	//gpu:unroll 24
	for i := range 24 {
		s.Unrolled = s.Unrolled*3 + a[i]
	}
	//gpu:unroll 7
	for i := 3; i < 60; i += 2 {
		s.UnrolledRest = s.UnrolledRest*3 + a[i]
	}
	//gpu:unroll 5
	for i := r.Start; i < r.End; i++ {
		s.UnrolledUnknown = s.UnrolledUnknown*3 + a[i]
	}
	//gpu:unroll 3
	for i := r.End; i >= r.Start; i-- {
		s.UnrolledDown = s.UnrolledDown*3 + a[i]
	}
	//gpu:unroll 12
	for i := range 12 {
		if i == r.Start {
			break
		}
		s.UnrolledBreak = s.UnrolledBreak*3 + a[i]
	}
	n := r.End
	//gpu:unroll 2
	for n > 0 {
		s.UnrolledWhile = s.UnrolledWhile*3 + a[n]
		n /= 2
	}
	//gpu:unroll 4
	for i := r.Start; i < r.End; i += 2 {
		if i%3 == 0 {
			continue
		}
		s.UnrolledContinue = s.UnrolledContinue*3 + a[i]
	}
	//gpu:unroll 2
	for i := range r.End {
		//gpu:unroll 3
		for k := range 3 {
			s.UnrolledNest = s.UnrolledNest*3 + a[(i+k)&63]
		}
	}
	//gpu:unroll 40
	for i := uint8(225); i >= 215; i-- {
		s.UnrolledByte = s.UnrolledByte*3 + a[i-200]
	}
	//gpu:unroll 1
	for i := range 3 {
		s.Rolled = s.Rolled*3 + a[i]
	}
}

// steps runs stepAll on intervals that are empty, that steps meet exactly or pass, and on numbers near the extremes.
func steps(r *check.Run) {
	a := make([]int32, elements)
	for i := range a {
		a[i] = int32(i*i%23 - 9)
	}
	var in []interval
	for _, ends := range [][2]int{{0, 60}, {0, 59}, {0, 57}, {4, 5}, {4, 4}, {8, 3}, {0, 0}, {0, 1}, {36, 60}, {3, 36}, {1, 2}, {57, 60}, {59, 60}} {
		for _, step := range []int{1, 2, 3, 8} {
			in = append(in, interval{ends[0], ends[1], step, math.MaxInt, math.MinInt})
		}
	}
	want := make([]stepped, len(in))
	for i, x := range in {
		want[i] = stepAll(a, x)
	}
	out := check.Make[stepped](r, len(in))
	r.Launch(StepSums(r.Stream, check.Threads(len(in)), check.Upload(r, a...), check.Upload(r, in...), out))
	check.Want(r, out, want...)
}
