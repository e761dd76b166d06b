package control

import "github.com/gopherwarp/gopherwarp/gpu"

// ordered has what each expression is when calls in it change what stands beside them.
type ordered struct {
	Sum, SumBehind, Arguments, Nested, Literal, Pairs, LiteralOfArray, Returned, Several, Declared, Target, TwoTargets int64
	Operator, OwnOperator, Increment, Element, Pointer, Field, ArrayElement, SliceHeader, Length                       int64
	Minimum, Logic, LogicRight, Condition, ElseIf, LoopCondition, LoopPost, Switch, SwitchValue, Range, Shift, Negated int64
	Compared, Converted, Method, PointerMethod, Closure, Labelled, Tuple, TupleTarget, Atomic, Copied, Swap, Generic   int64
	Parts, Chain, InLoop, Deferred, ArrayCopy, Init, RangeUnevaluated                                                  int64
}

type cell struct{ a, b int64 }

func (c cell) sum() int64            { return c.a + c.b }
func (c *cell) add(n int64) int64    { c.a += n; return c.a }
func put(p *int64, v int64) int64    { *p = v; return 1 }
func digits(a, b int64) int64        { return 100*a + b }
func both(p *int64) (int64, int64)   { return *p, put(p, *p+7) }
func two(p *int64) (a, b int64)      { *p += 2; return *p, 5 }
func combined[T int64](p *T, by T) T { *p *= by; return *p }
func triple(a, b, c int64) int64     { return 10000*a + 100*b + c }
func sumUp(x []int64) (s int64) {
	for _, v := range x {
		s += v
	}
	return s
}

func orderAll(n int64) (o ordered) {
	orderSums(n, &o)
	orderTargets(n, &o)
	orderStatements(n, &o)
	orderMemory(n, &o)
	return o
}

func orderSums(n int64, o *ordered) {
	x := n
	f := func() int64 { x += 2; return 1 }
	o.Sum = x + f()
	o.SumBehind = f() + x
	o.Arguments = digits(x, f())
	o.Nested = digits(x, digits(x, f())) + x*f()
	c := cell{x, f()}
	o.Literal = c.sum()*100 + c.a
	p := [2]cell{{x, x}, {f(), 1}}
	o.LiteralOfArray = p[0].a + 3*p[1].a
	a, b := x, f()
	o.Pairs = digits(a, b)
	o.Returned, o.Several = both(&x)
	o.Several += x
	var d, e = x, f()
	o.Declared = digits(d, e)
	o.Shift = x<<uint(f()) + x
	o.Negated = -x - -f() ^ f()
	o.Compared = 0
	if x == n+2*f() || !(x > 3) == (f() == 1) {
		o.Compared = x
	}
	o.Converted = int64(int32(x)) + int64(uint8(f()))
	o.Closure = func(a, b int64) int64 { return a*1000 + b }(x, f())
	o.Minimum = min(x, 50) + f() + max(x, 3, f())
	o.Chain = x + f()*x - f() + (x+f())*(x+f())
	o.Generic = x + combined(&x, 3)
}

func orderTargets(n int64, o *ordered) {
	i := n & 1
	f := func() int64 { i = 2; return 1 }
	y := [3]int64{1, 2, 3}
	var backing [3]int64
	x := backing[:]
	x[i] = 8 + f()
	o.Target = x[0] + 10*x[1] + 100*x[2]
	i = 0
	x[i], x[i+f()-1] = 4, 5
	o.TwoTargets = x[0] + 10*x[1] + 100*x[2]
	i = 1
	y[i] += 10 + f()
	o.Operator = y[0] + 100*y[1] + 10000*y[2]
	i = n
	i += 10 + f()
	o.OwnOperator = i
	i = 0
	y[i+f()-1]++
	o.Increment = y[0] + 100*y[1] + 10000*y[2]
	i = 0
	y[i], o.TupleTarget = two(&i)
	o.Tuple = y[0] + 100*y[1] + 10000*y[2]
	i = n
	x[0], x[1] = i, 7
	x[0], x[1] = x[1]+f(), x[0]+i
	o.Swap = digits(x[0], x[1])
	i = 0
	z := min(i, 10) + triple(i, f(), i)
	o.Parts = z
}

func orderStatements(n int64, o *ordered) {
	x := n
	f := func() int64 { x++; return x & 3 }
	yes := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	o.Logic = digits(x, yes(x > 2 && f() > 1))
	o.LogicRight = yes(x > 2 && x+f() > 2*n+1 || x*f() > 40)
	if x+f() > 2*n+2 {
		o.Condition = x
	} else if x*2-f() > n {
		o.ElseIf = x + 1
	}
	for k := int64(0); x < n+20+f() && k < 30; k += 1 + 0*f() {
		o.LoopCondition += k*x + 1
	}
	for k := x; k < x+4; k = k + 1 + x - x*1 + 0*f() {
		if o.LoopPost++; o.LoopPost > 20 {
			break
		}
	}
	switch k := x; k + x - f() {
	case n, n + 1, n + 2, n + 3:
		o.Switch = 3
	case x:
		o.Switch = x
	default:
		o.Switch = -x
	}
	switch {
	case x > f()+n:
		o.SwitchValue = x
	}
	for k := range (x&3 + f()) & 7 {
		o.Range += k + x
	}
	var rows [3][5]int64
	for k := range rows[n] { // which does not evaluate rows[n], whose length is constant
		o.RangeUnevaluated += int64(k) + x
	}
	if v := x + f(); v > x-f() {
		o.Init = v + x
	}
	k := int64(0)
again:
	if k += x + f(); k < 5*n+100 {
		goto again
	}
	o.Labelled = k
rows:
	for i := int64(0); i < 6; i++ {
		for j := x + f() - x; ; j++ {
			if j > 3 {
				continue rows
			}
			if o.InLoop += j + x*f(); o.InLoop > 1000 {
				break rows
			}
		}
	}
	o.Deferred = deferring(&x)
}

func deferring(p *int64) (r int64) {
	defer func() { r += *p }()
	defer put(p, *p+3*put(p, 5))
	return *p + put(p, 9)
}

func orderMemory(n int64, o *ordered) {
	s := [4]int64{n, n + 1, n + 2, n + 3}
	x := s[:]
	o.Element = x[0] + put(&x[0], 50) + x[0]
	p := &s[1]
	o.Pointer = *p*2 + put(&s[1], 60)
	c := cell{n, 3}
	q := &c
	f := func() int64 { c = cell{30, 40}; return 2 }
	o.Field = q.a + f() + q.b
	c = cell{n, 3}
	o.Method = c.sum() + f() + c.sum()
	c = cell{n, 3}
	o.PointerMethod = c.a + c.add(5) + q.add(c.a)
	g := func() int64 { s[2] = 9; return 1 }
	o.ArrayElement = s[2] + g() + s[2]
	s[2] = n
	t := s
	o.ArrayCopy = sumUp(t[:]) + g() + s[2]*sumUp(s[1:])
	text := "abcdef"
	h := func() int64 { text = "uvwxyz"[:5]; return 1 }
	o.SliceHeader = int64(text[1])*1000 + h() + int64(text[0])
	text = "abcdef"
	o.Length = int64(len(text))*10 + h() + int64(len(text))*100
	other := [4]int64{7, 8, 9, 10}
	o.Copied = x[0] + int64(copy(x, other[:])) + x[1]
	o.Atomic = s[0] + gpu.AtomicAdd(&s[0], 5) + s[0]
}

//gpu:kernel
func orders(t gpu.Thread, n []int64, out []ordered) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = orderAll(n[i])
	}
}
