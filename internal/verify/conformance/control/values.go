package control

import "github.com/gopherwarp/gopherwarp/gpu"

// changed has a behaviour of values that change places a field: what goes wrong where a
// compiler leaves SSA form carelessly.
type changed struct {
	Swap, SwapTwice, RotateThree, RotateFour, LostCopy, LostCopyTwo int64
	SwapInBranch, SwapAcrossLoops, Fibonacci, ShiftChain, PhiOfPhi  int64
	PhiInInnerLoop, PhiDead, PhiConstant, PhiSelf, PhiOfParameter   int64
	ParallelAssign, ParallelIndex, AssignOldIndex, OperandOrder     int64
	CallsLeftToRight, IndexBeforeCall, ShadowedVariable             int64
	NamedResult, NamedResultReturned, BlankAssign, OpAssign, IncDec int64
}

func changeAll(n int64) (r changed) {
	phis(n, &r)
	morePhis(n, &r)
	assignments(n, &r)
	order(n, &r)
	r.NamedResult, r.NamedResultReturned = named(n)
	return r
}

//gpu:kernel
func changes(t gpu.Thread, n []int64, out []changed) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = changeAll(n[i])
	}
}

func phis(n int64, r *changed) {
	a, b := int64(1), int64(2)
	for range n {
		a, b = b, a
	}
	r.Swap = a*10 + b
	c, d, e := a, b, n
	for range n {
		c, d = d, c
		c, d = d, c+1
	}
	r.SwapTwice = c*1000 + d
	for i := range n {
		c, d, e = d, e, c+i
	}
	r.RotateThree = c + 3*d + 5*e
	w, x, y, z := int64(1), int64(2), int64(3), int64(4)
	for range n {
		w, x, y, z = x, y, z, w
	}
	r.RotateFour = w*1000 + x*100 + y*10 + z
	last := int64(-1)
	i := int64(0)
	for i < n {
		last = i
		i++
	}
	r.LostCopy = last*100 + i
	old, now := int64(0), int64(1)
	for now < n*10 {
		old, now = now, now+old+1
	}
	r.LostCopyTwo = old
}

func morePhis(n int64, r *changed) {
	a, b := int64(3), int64(5)
	for i := range n {
		if i%3 == 1 {
			a, b = b, a
		}
		a++
	}
	r.SwapInBranch = a*100 + b
	for range n {
		for range 3 {
			a, b = b, a
		}
		b += 2
	}
	r.SwapAcrossLoops = a - 7*b
	f, g := int64(0), int64(1)
	for range n {
		f, g = g, f+g
	}
	r.Fibonacci = f
	s1, s2, s3 := int64(0), int64(0), int64(0)
	for i := range n {
		s3, s2, s1 = s2, s1, i
	}
	r.ShiftChain = s1 + 10*s2 + 100*s3
	p, q := n, int64(0)
	for i := range n {
		q = p
		for j := range i {
			p = q + j
		}
	}
	r.PhiOfPhi, r.PhiInInnerLoop = p, q
	dead, constant, self := n, int64(7), n
	for i := range n {
		dead = i
		if i > 100 {
			constant = 7
			self = self + 0
		}
	}
	r.PhiConstant, r.PhiSelf, r.PhiDead = constant, self, n
	_ = dead
	for range 3 {
		n = n*2 + 1
	}
	r.PhiOfParameter = n
}

func assignments(n int64, r *changed) {
	a, b, c := n, n+1, n+2
	a, b, c = c, a, b
	r.ParallelAssign = a*100 + b*10 + c
	x := [4]int64{1, 2, 3, 4}
	i := int(n & 1)
	i, x[i] = 2, 50
	r.ParallelIndex = x[0] + x[1]*3 + x[2]*5 + int64(i)
	x[i], i = int64(i), 3
	r.AssignOldIndex = x[2]*10 + x[3]
	{
		n := n + 100
		n++
		r.ShadowedVariable = n
	}
	r.ShadowedVariable += n
	_, kept := pair(n)
	r.BlankAssign = kept
	v := n
	v += 3
	v *= 5
	v -= 2
	v <<= 2
	v |= 1
	v ^= 0xff
	v &^= 0x10
	v %= 1000
	v >>= 1
	v /= 3
	r.OpAssign = v
	v++
	v++
	x[1]--
	r.IncDec = v*10 + x[1]
}

func pair(n int64) (int64, int64) { return n, n * 3 }

func named(n int64) (a, b int64) {
	a = n
	if n > 2 {
		b = 5
		return b, a
	}
	b = a * 2
	return
}

func order(n int64, r *changed) {
	trace := int64(0)
	note := func(digit int64) int64 { trace = trace*10 + digit; return digit }
	sum := note(1) + note(2)*note(3) - note(4)
	r.OperandOrder = trace*1000 + sum
	trace = 0
	_ = three(note(1), note(2), note(3))
	r.CallsLeftToRight = trace
	x := [3]int64{10, 20, 30}
	j := 0
	next := func() int { j++; return j }
	x[next()] = int64(next()) * n
	r.IndexBeforeCall = x[0] + x[1]*100 + int64(j)
}

func three(a, b, c int64) int64 { return a + b + c }
