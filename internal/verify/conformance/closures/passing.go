package closures

import (
	"iter"
	"slices"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// passed has a behaviour of function values a field.
type passed struct {
	Function, Literal, Captured, CapturedTwice, CapturesClosure, CapturesParameter int64
	Returned, ReturnedTwice, ReturnedWithValue, Composed, State, Named, Generic    int64
	MethodValue, MethodValueOfPointer, MethodExpression, Nil, Assigned, InLoop     int64
	LoopVariable, EarlyReturn, ThroughTwo, Slices, SlicesIndex, Recursive          int64
	Range, RangeBreak, RangeContinue, RangeReturn, RangeNested, RangeLabel         int64
	RangeTwo, RangeNone, RangeSlice, RangeBackward, RangeFiltered, RangeMethod     int64
	RangeGoto, RangeInLoop, RangeAssigned                                          int64
}

func passAll(n int64) (p passed) {
	passFunctions(n, &p)
	passReturned(n, &p)
	passMethods(n, &p)
	passIterators(n, &p)
	passJumps(n, &p)
	return p
}

//gpu:kernel
func passing(t gpu.Thread, n []int64, out []passed) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = passAll(n[i])
	}
}

type unary func(int64) int64

func (f unary) twice(x int64) int64 { return f(f(x)) }

func twice(x int64) int64 { return 2 * x }

func apply(f func(int64) int64, x int64) int64      { return f(x) + 1 }
func applyTwice(f func(int64) int64, x int64) int64 { return apply(f, x) * apply(f, x+1) }
func map3[T any](x [3]T, f func(T) T) [3]T          { return [3]T{f(x[0]), f(x[1]), f(x[2])} }

// find has several returns, and takes a function that captures.
func find(x []int64, ok func(int, int64) bool) int64 {
	for i, v := range x {
		if ok(i, v) {
			return int64(i)
		}
	}
	return -1
}

func passFunctions(n int64, p *passed) {
	list := []int64{n, 3, 1, 4, 1, 5}
	p.Function = apply(twice, n)
	p.Literal = apply(func(x int64) int64 { return x * 3 }, n)
	p.Captured = apply(func(x int64) int64 { return x + n }, 1)
	sum := int64(0)
	add := func(x int64) int64 { sum += x; return sum }
	p.CapturedTwice = apply(add, n) + apply(add, 1) + sum
	p.CapturesClosure = apply(func(x int64) int64 { return add(x) * 2 }, n)
	p.CapturesParameter = capturing(add, n)
	p.ThroughTwo = applyTwice(func(x int64) int64 { return x - sum }, n)
	p.Generic = map3([3]int64{n, 2, 3}, func(x int64) int64 { return x * x })[0]
	p.EarlyReturn = find(list, func(i int, v int64) bool { return v < n && i > 1 })
	var f func(int64) int64
	if n >= 0 {
		p.Nil = 5
	}
	f = add
	p.Assigned = f(7)
	if f != nil {
		p.Nil += f(1)
	}
	for i := range n {
		p.InLoop += apply(func(x int64) int64 { x += i; return x * i }, n)
		own := i * 2
		get := func() int64 { own++; return own }
		p.LoopVariable += get() * get()
	}
	if slices.ContainsFunc(list, func(x int64) bool { return x > n }) {
		p.Slices = 1
	}
	p.SlicesIndex = int64(slices.IndexFunc(list, func(x int64) bool { return x == 5 }))
	p.Recursive = applyTwice(func(x int64) int64 { return applyOther(twice, x) }, n)
}

func applyOther(f func(int64) int64, x int64) int64 { return f(x) - 3 }

// capturing captures a parameter that is a function.
func capturing(f func(int64) int64, n int64) int64 {
	g := func() int64 { return f(n) + f(1) }
	return g()
}

func adder(n int64) func(int64) int64 { return func(x int64) int64 { return x + n } }

func counter(from int64) (next func() int64, start int64) {
	return func() int64 { from++; return from }, from
}

func compose(f, g func(int64) int64) func(int64) int64 {
	return func(x int64) int64 { return f(g(x)) }
}

func passReturned(n int64, p *passed) {
	p.Returned = adder(n)(2)
	a, b := adder(n), adder(10)
	p.ReturnedTwice = a(1)*100 + b(a(2))
	next, start := counter(n)
	p.State = next()*next() + start
	p.ReturnedWithValue = start
	p.Composed = compose(compose(a, twice), b)(n)
	p.Named = unary(a).twice(3)
}

type account struct{ balance int64 }

func (a account) after(x int64) int64 { return a.balance + x }
func (a *account) add(x int64) int64  { a.balance += x; return a.balance }

func passMethods(n int64, p *passed) {
	a := account{n}
	after, add := a.after, a.add
	p.MethodValueOfPointer = apply(add, 5) + add(1)
	p.MethodValue = apply(after, 2) + after(1)
	method := (*account).add
	p.MethodExpression = method(&a, 2) + apply(a.after, 1)
}

func count(n int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func squares(n int64) iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for i := range count(n) {
			if !yield(i, i*i) {
				break
			}
		}
	}
}

func filter[T any](seq iter.Seq[T], keep func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for x := range seq {
			if keep(x) && !yield(x) {
				return
			}
		}
	}
}

type grid struct{ w, h int64 }

func (g grid) cells(yield func(x, y int64) bool) {
	for y := range g.h {
		for x := range g.w {
			if !yield(x, y) {
				return
			}
		}
	}
}

func passIterators(n int64, p *passed) {
	list := [4]int64{n, 2, 7, 1}
	for i := range count(n) {
		p.Range = p.Range*3 + i
	}
	for i, v := range squares(n) {
		p.RangeTwo += i*100 + v
	}
	for range count(n) {
		p.RangeNone++
	}
	for i, v := range slices.All(list[:]) {
		p.RangeSlice = p.RangeSlice*10 + v + int64(i)
	}
	for _, v := range slices.Backward(list[:]) {
		p.RangeBackward = p.RangeBackward*10 + v
	}
	for x := range filter(slices.Values(list[:]), func(x int64) bool { return x > 1 }) {
		p.RangeFiltered = p.RangeFiltered*10 + x
	}
	for x, y := range (grid{n, 3}).cells {
		p.RangeMethod += x * y
	}
	var i int64
	for i = range count(n) {
		p.RangeAssigned += i
	}
	p.RangeAssigned += 100 * i
	for k := range int64(3) {
		for i := range count(k + n) {
			p.RangeInLoop = p.RangeInLoop*2 + i
		}
	}
}

func passJumps(n int64, p *passed) {
	for i := range count(10) {
		if i == n {
			break
		}
		p.RangeBreak += i
	}
	for i := range count(n) {
		if i%2 == 0 {
			continue
		}
		p.RangeContinue += i
	}
	p.RangeReturn = firstAbove(n)
rows:
	for i := range count(5) {
		for k := range count(5) {
			switch {
			case k > i:
				continue rows
			case i*k > n:
				break rows
			}
			p.RangeLabel += i*10 + k
		}
	}
	for i := range count(n) {
		for k := range count(i) {
			p.RangeNested = p.RangeNested*2 + k
		}
	}
	for i := range count(8) {
		if i == n {
			goto done
		}
		p.RangeGoto += i
	}
	p.RangeGoto *= 2
done:
	p.RangeGoto++
}

func firstAbove(n int64) int64 {
	for i := range count(100) {
		if i*i > n {
			return i
		}
	}
	return -1
}
