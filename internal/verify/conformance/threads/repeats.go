package threads

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// repeated changes elements before and after branches that all threads take alike. Code that starts over after the first
// change leaves something else.
//
//gpu:kernel
func repeated(t gpu.Thread, times int, x []int32) {
	i := t.GlobalX()
	if i >= len(x) {
		return
	}
	x[i] += 3
	if times > 2 {
		x[i] *= 5
	} else {
		x[i]--
	}
	for j := range times {
		x[i] += int32(j) + 1
	}
	x[i] ^= 1
}

func repeats(r *check.Run) {
	for times := range 6 {
		x, want := make([]int32, 100), make([]int32, 100)
		for i := range x {
			x[i] = int32(7 * i)
			v := x[i] + 3
			if times > 2 {
				v *= 5
			} else {
				v--
			}
			for j := range times {
				v += int32(j) + 1
			}
			want[i] = v ^ 1
		}
		d := check.Upload(r, x...)
		r.Launch(Repeated(r.Stream, device.Cover(len(x), 64), times, d))
		check.Want(r, d, want...)
	}
}

// parted has threads that change an element and end before others compare their index with a limit that divides a vector of lanes.
//
//gpu:kernel
func parted(t gpu.Thread, limit int, first []int32, x []int32) {
	i := t.GlobalX()
	if i >= len(x) || i >= len(first) {
		return
	}
	if first[i] != 0 {
		x[i] += 3
		return
	}
	if i < limit {
		x[i] += 5
		return
	}
	x[i] += 7
}

// quotients divides 64-bit numbers, which may be large, after other threads have changed their elements.
//
//gpu:kernel
func quotients(t gpu.Thread, by int64, first []int32, x []int64) {
	i := t.GlobalX()
	if i >= len(x) || i >= len(first) || by == 0 {
		return
	}
	if first[i] != 0 {
		x[i] += 3
		return
	}
	x[i] /= by
}

func parts(r *check.Run) {
	first, x, want := make([]int32, 100), make([]int32, 100), make([]int32, 100)
	wide, quotient := make([]int64, 100), make([]int64, 100)
	for limit := 30; limit < 50; limit++ {
		for i := range first {
			first[i], x[i], want[i] = int32(i%3/2), int32(i), int32(i)+7
			wide[i] = int64(i) << 55
			quotient[i] = wide[i] / int64(limit)
			if i < limit {
				want[i] = int32(i) + 5
			}
			if first[i] != 0 {
				want[i], quotient[i] = int32(i)+3, wide[i]+3
			}
		}
		f, d, w := check.Upload(r, first...), check.Upload(r, x...), check.Upload(r, wide...)
		r.Launch(Parted(r.Stream, device.Cover(len(x), 64), limit, f, d))
		check.Want(r, d, want...)
		r.Launch(Quotients(r.Stream, device.Cover(len(x), 64), int64(limit), f, w))
		check.Want(r, w, quotient...)
	}
}

// bound is an element whose second field is searched.
type bound struct{ Name, Limit int32 }

// search keeps the address of the first limit that is larger than the thread's number, which threads find at
// different times.
//
//gpu:kernel
func search(t gpu.Thread, list []bound, out []int32) {
	i := t.GlobalX()
	if i >= len(out) || len(list) == 0 {
		return
	}
	p, q := &list[0].Limit, &list[0].Name
	for j := range list {
		at := &list[(i+j)%len(list)]
		p, q = &at.Limit, &at.Name
		if *p > int32(i) {
			break
		}
	}
	out[i] = *p*100 + *q
}

func searched(r *check.Run) {
	var list []bound
	for i := range 13 {
		list = append(list, bound{int32(i), int32(i * i % 101)})
	}
	want := make([]int32, 100)
	for i := range want {
		found := bound{}
		for j := range list {
			if found = list[(i+j)%len(list)]; found.Limit > int32(i) {
				break
			}
		}
		want[i] = found.Limit*100 + found.Name
	}
	out := check.Make[int32](r, len(want))
	r.Launch(Search(r.Stream, device.Cover(len(want), 64), check.Upload(r, list...), out))
	check.Want(r, out, want...)
}

// scattered returns another number below 128 for each i below 128, by more operations than a twin does twice.
func scattered(i int) int {
	i = i * 5 & 127
	i ^= i >> 3
	i = i * 11 & 127
	i ^= i >> 2
	i = i * 77 & 127
	return i ^ i>>4
}

// across stores through an address that was found before a barrier.
//
//gpu:kernel
//gpu:block 64
func across(t gpu.Thread, list []bound) {
	shared := gpu.Shared[[64]int32](t)
	lane := t.ThreadX()
	p := &list[scattered(t.GlobalX())].Limit
	shared[lane] = *p
	t.Sync()
	*p = shared[63-lane] + 1
	t.Sync()
	if shared[lane]%2 == 0 {
		*p *= 2
	}
}

func crossed(r *check.Run) {
	list, want := make([]bound, 128), make([]bound, 128)
	for i := range list {
		list[i] = bound{int32(i), int32(i * i)}
	}
	for i := range want {
		at := scattered(i)
		own, other := list[at].Limit, list[scattered(i^63)].Limit
		want[at] = bound{int32(at), other + 1}
		if own%2 == 0 {
			want[at].Limit *= 2
		}
	}
	d := check.Upload(r, list...)
	r.Launch(Across(r.Stream, device.Blocks{X: 2}, d))
	check.Want(r, d, want...)
}
