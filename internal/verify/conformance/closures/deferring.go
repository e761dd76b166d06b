package closures

import "github.com/gopherwarp/gopherwarp/gpu"

// deferred has a behaviour of defer statements a field.
type deferred struct {
	AtEnd, Order, Arguments, InBranch, AfterReturn, Result, ResultOfMany int64
	Closure, Method, Twice, InLoopOfCalls, Nested, InBranchArguments     int64
	FunctionArgument, Builtin, EarlyReturn                               int64
}

//gpu:kernel
func deferring(t gpu.Thread, n []int64, out []deferred) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = deferAll(n[i])
	}
}

func deferAll(n int64) (d deferred) {
	atEnd(n, &d)
	inBranches(n, &d)
	d.Result, d.EarlyReturn = result(n), early(n)
	d.ResultOfMany, _ = results(n)
	for i := range n {
		nested(i, &d.InLoopOfCalls)
	}
	nested(n, &d.Nested)
	withFunction(func(x int64) int64 { return x * n }, &d.FunctionArgument)
	list := [3]int64{n, n, n}
	clearing(list[:])
	d.Builtin = list[0] + 10*list[2]
	return d
}

func put(p *int64, x int64) { *p = *p*10 + x }

func atEnd(n int64, d *deferred) {
	defer put(&d.AtEnd, 2)
	put(&d.AtEnd, 1)
	defer put(&d.Order, 3)
	defer put(&d.Order, 2)
	defer put(&d.Arguments, n)
	n += 5
	put(&d.Order, 1)
	a := account{n}
	defer a.add(3)
	defer func() { d.Method = a.add(1) }()
	defer func() { d.Closure = n }()
	n++
}

func inBranches(n int64, d *deferred) {
	if n > 3 {
		defer put(&d.InBranch, n)
		defer put(&d.Twice, 1)
	} else {
		defer put(&d.InBranch, -n)
	}
	defer put(&d.Twice, 2)
	for i := range n {
		if i == 5 {
			x := i * n
			p := &d.InBranchArguments
			if n == 7 {
				return
			}
			put(p, x)
		}
	}
	if n%2 == 0 {
		x := n * 7
		defer func(y int64) { d.InBranchArguments = y*100 + x }(x + 1)
		x++
	}
	if n == 6 {
		return
	}
	defer put(&d.AfterReturn, 4)
	put(&d.AfterReturn, 3)
}

func result(n int64) (r int64) {
	defer func() { r *= 2 }()
	return n + 1
}

func results(n int64) (a, b int64) {
	defer func() { a, b = b, a }()
	a = 5
	if n > 2 {
		return n, a
	}
	return
}

func early(n int64) (r int64) {
	if n < 2 {
		return -1
	}
	defer func() { r += 100 }()
	for i := range n {
		if i*i > n {
			return i
		}
	}
	return n
}

func nested(n int64, p *int64) {
	defer func() {
		defer put(p, 3)
		put(p, n%3)
	}()
	put(p, 1)
}

func withFunction(f func(int64) int64, p *int64) {
	defer func() { put(p, f(2)) }()
	put(p, f(1))
}

func clearing(x []int64) {
	defer clear(x[:1])
	x[0] = 3
}
