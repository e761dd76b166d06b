package control

import "github.com/gopherwarp/gopherwarp/gpu"

// bounded has a behaviour a field of what compilers conclude from conditions and loops, in ways that
// look right and are not.
type bounded struct {
	DividedTenTimes, DividedThirteenTimes, RemainderElevenTimes, CheckBehindBreak, CheckBehindContinue int64
	PointersCross, EitherHolds, NeitherHolds, FromBelow, ThroughPointers, ChosenElement, ChosenField   int64
	Window, WindowBack, Halved, Average                                                                int64
}

//gpu:kernel
func bounds(t gpu.Thread, n []int64, out []bounded) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = boundAll(n[i])
	}
}

func boundAll(n int64) (r bounded) {
	divideLoops(n, &r)
	conditions(n, &r)
	addresses(n, &r)
	windows(n, &r)
	return r
}

// divideLoops divide in a number of rounds that is not a multiple of four.
func divideLoops(n int64, r *bounded) {
	x := float64(n) + 0.5
	for i := range 10 {
		x = x/1.25 + float64(i)
	}
	r.DividedTenTimes = int64(x * 1000)
	y := float32(n)
	for range 13 {
		y = (y + 3) / 1.5
	}
	r.DividedThirteenTimes = int64(y * 1000)
	z, d := n+1<<50, n*n+7
	for range 11 {
		z = z/3 + z%d*5
	}
	r.RemainderElevenTimes = z
}

func conditions(n int64, r *bounded) {
	list := [4]int64{n, 5, 7, n * 2}
	for i := range n + 3 { // the index is out of range where the loop ends first
		if n > 3 || n < 0 {
			break
		}
		r.CheckBehindBreak += list[n] + i
	}
	for i := range n + 3 {
		if n > 3 || n < 0 {
			r.CheckBehindContinue++
			continue
		}
		r.CheckBehindContinue += list[n] * i
	}
	for i, j := int64(0), n+3; i != j; i, j = i+1, j-1 {
		if i > j { // they have passed each other
			r.PointersCross += 100
			break
		}
		r.PointersCross += j
	}
	small, even := n < 3, n%2 == 0
	if either := small || even; either {
		if n < 3 {
			r.EitherHolds = 1
		} else {
			r.EitherHolds = 2
		}
		if even {
			r.EitherHolds += 10
		}
	}
	if neither := !small && !even; !neither {
		r.NeitherHolds = 1
		if small {
			r.NeitherHolds = 2
		}
	}
}

// held is a struct with an array behind another field.
type held struct {
	head  int64
	items [4]int64
}

func addresses(n int64, r *bounded) {
	var a [16]int64
	for i := range a {
		a[i] = int64(i * i)
	}
	a[n+4]++
	r.FromBelow = a[n+4] + a[n+3]*100
	x, y := n*3, n*5
	ps := [2]*int64{&x, &y}
	r.ThroughPointers = *ps[n&1]
	u, v := held{1, [4]int64{n, 2, 3, 4}}, held{10, [4]int64{20, n, 40, 50}}
	p := &u
	if n%3 == 1 {
		p = &v
	}
	r.ChosenElement, r.ChosenField = p.items[n&3], p.head
	p.items[(n+1)&3] = 7
	r.ChosenField += u.items[1]*10 + v.items[2]*100 + u.items[2]*1000
}

func windows(n int64, r *bounded) {
	var a [20]int32
	for i := range a {
		a[i] = int32(i) * int32(n)
	}
	for s := a[:]; len(s) >= 4; s = s[1:] {
		r.Window = r.Window*3 + int64(s[0]-s[1]*2+s[2]*5+s[3])
	}
	for s := a[:]; len(s) > 4; s = s[:len(s)-3] {
		r.WindowBack = r.WindowBack*3 + int64(s[len(s)-1]-s[len(s)-2]+s[0])
	}
	for lo, hi := int64(0), n+20; lo < hi; {
		mid := (lo + hi) / 2
		if a[mid%20] < 7 {
			lo = mid + 1
		} else {
			hi = mid
		}
		r.Halved = r.Halved*2 + mid
	}
	r.Average = (n + (n+1)%3) >> 1
}
