package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func allocates(t gpu.Thread, x []float32) {
	y := make([]float32, len(x))   // want "cannot use make with a size that is not constant"
	z := make([]float32, len(x)*2) // want "cannot use make"
	x[0] = y[0] + z[0]
	x = append(x, 1) // want "cannot use append"
	x[1] = x[2]
}

type view struct{ data []float32 }

func fresh(n int) *int {
	p := new(int) // want "address of the value allocated here is returned"
	*p = n
	return p
}

func local() view {
	var data [4]float32 // want "address of data is returned"
	return view{data[:]}
}

func same(p *int) *int { return p }

func through() *int {
	n := 1 // want "address of n is returned"
	return same(&n)
}

// element is like a field element of package edwards25519: its methods return their receivers.
type element struct{ n int }

func (e *element) product(x, y *element) *element {
	e.n = x.n * y.n
	return e
}

// power returns z and no address of t, although t is the receiver of the same method.
func power(z *element) *element {
	var t element
	t.product(z, z).product(&t, z)
	return z.product(z, &t)
}

func second(x, y *element) *element { return y }

func crossed(z *element) *element {
	var t, u element // want "address of t is returned"
	second(&u, z)
	return second(z, second(z, &t))
}

// throughClosure returns the address of what a closure captures.
func throughClosure() *int {
	n := 1 // want "address of n is returned"
	f := func() *int { return &n }
	return f()
}

func throughValue() int {
	n := 1 // want "address of n is returned by a function value"
	f := func() *int { return &n }
	return *call(f)
}

func call(f func() *int) *int { return f() }

func keep(v *view, data []float32) { v.data = data }

//gpu:kernel
func escapes(t gpu.Thread, x []float32) {
	x[0] = float32(*fresh(1) + *through())
	x[1] = local().data[0]
	z := element{2}
	x[1] += float32(power(&z).n + crossed(&z).n + *throughClosure() + throughValue())
	var last *float32
	for _, f := range x {
		f := f + 1 // want "address of f is kept for the next iteration"
		if last != nil {
			x[2] = *last
		}
		last = &f
	}
	var v view
	for range x {
		var data [4]float32 // want "address of data is stored in v, which lives longer"
		v.data = data[:]
	}
	var more [4]float32 // want "address of more is stored in memory that may live longer"
	keep(&v, more[:])
	x[3] = v.data[0]
}

//gpu:kernel
func rounds(t gpu.Thread, x []int, n int) {
	var last *int
	for i := 0; i < n; i++ { // want "address of i is kept for the next iteration"
		if last != nil {
			x[i] = *last
		}
		last = &i
	}
	for i, j := 0, n; i < j; i, j = i+1, j-1 {
		swap := func() { x[i], x[j] = x[j], x[i] }
		swap()
	}
}

func sameAddress(p **int) **int { return p }

//gpu:kernel
func throughAddress(t gpu.Thread, x []int) {
	var last *int
	for _, f := range x {
		f := f + 1 // want "address of f is kept for the next iteration"
		if last != nil {
			x[2] = *last
		}
		p := &f
		last = *sameAddress(&p)
	}
}

//gpu:kernel
func large(t gpu.Thread, x []int) {
	var fits [1 << 16]int
	fits[x[0]&0xffff] = 1
	var table [1<<16 + 1]int // want "cannot use a variable of 524296 bytes: a thread has at most 524288 bytes of local memory"
	table[x[0]] = fits[x[1]&0xffff]
	x[1] = table[x[2]]
}

// throughDefer passes an address to a deferred function, which stores it.
func throughDefer(v *view) {
	var data [4]float32 // want "address of data is stored in memory that may live longer"
	defer keep(v, data[:])
	data[0] = 1
}

//gpu:kernel
func defers(t gpu.Thread, x []float32) {
	var v view
	throughDefer(&v)
	x[0] = v.data[0]
}
