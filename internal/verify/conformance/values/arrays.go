package values

import "github.com/gopherwarp/gopherwarp/gpu"

// arranged has a behaviour of arrays and of slices a field.
type arranged struct {
	ArrayZero, ArrayLiteral, ArrayIndexed, ArrayDynamicStore, ArrayDynamicLoad int64
	ArrayCopy, ArrayCompare, ArrayOfArrays, ArrayRow, ArrayArgument            int64
	ArrayResult, ArrayLen, ArrayPointerIndex, ArrayPointerLen, ArrayLarge      int64
	ArrayOfBool, ArrayOfBytes, ArraySort, ArrayReverse, ArrayMatrix            int64
	ArrayInsertion, ArrayHistogram, ArrayPrefix, ArrayInLoop, ArrayPhi         int64
	ArrayByConstant, ArrayOneElement, ArrayByteIndex, ArrayOfFloats, ArraySwap int64
	ArrayLargeOfArrays, ArrayLargeInStruct                                     int64
	SliceOfArray, SliceLow, SliceHigh, SliceFull, SliceOfSlice, SliceEmpty     int64
	SliceLen, SliceCap, SliceThreeIndex, SliceCapOfSlice, SliceShares          int64
	SliceNil, SliceNilCompare, SliceNilRange, SliceArgument, SliceResult       int64
	SliceReassigned, SliceAdvance, SliceInStruct, SliceSwap, SliceElementOfTwo int64
	CopyAll, CopyShorter, CopyResult, CopyOverlapDown, CopyOverlapUp           int64
	ClearSlice, ClearPart, ToArray, ToArrayPointer, SliceExtend, SliceSwapEnds int64
	SliceTwoViews, SliceFill, SlicePartition, SliceDot, SliceMake, SliceBytes  int64
}

func arrangeAll(n int64) (r arranged) {
	arrays(n, &r)
	moreArrays(n, &r)
	algorithms(n, &r)
	largeArrays(n, &r)
	slices(n, &r)
	moreSlices(n, &r)
	copies(n, &r)
	return r
}

//gpu:kernel
func arranges(t gpu.Thread, n []int64, out []arranged) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = arrangeAll(n[i])
	}
}

func arrays(n int64, r *arranged) {
	var zero [7]int32
	r.ArrayZero = int64(zero[n%7])
	a := [5]int64{1, n, 3, 4}
	r.ArrayLiteral = a[0] + a[1]*10 + a[4]*100
	b := [...]int16{7: 1, 2, 3: int16(n)}
	r.ArrayIndexed, r.ArrayLen = int64(b[8])+int64(b[3])*10+int64(b[7])*100, int64(len(b))
	a[n%5] = 50
	a[(n+1)%5]++
	r.ArrayDynamicStore = a[0] + 3*a[1] + 5*a[2] + 7*a[3] + 11*a[4]
	r.ArrayDynamicLoad = a[(n*3)%5] - a[4]
	c := a
	c[0] = 1000
	r.ArrayCopy = a[0] + c[0]
	if a == c || a != [5]int64{} && c[1] == a[1] {
		r.ArrayCompare = 1
	}
	var grid [3][4]int32
	for i := range 3 {
		for j := range 4 {
			grid[i][j] = int32(i*10+j) * int32(n)
		}
	}
	r.ArrayOfArrays = int64(grid[n%3][(n+1)%4])
	row := grid[2]
	grid[2][1] = -1
	r.ArrayRow = int64(row[1]) + int64(grid[2][1])
	r.ArrayArgument = sumArray(a)
	d := squares(n)
	r.ArrayResult = d[0] + d[1]*10 + d[2]*100
	p := &a
	p[2] = n
	r.ArrayPointerIndex, r.ArrayPointerLen = p[2]+a[2], int64(len(p))
}

// record has more numbers than the compiler keeps as values, at all depths.
type record struct {
	head  int8
	rows  [9][3]int32
	cells [2][40]struct{ a, b int16 }
}

func largeArrays(n int64, r *arranged) {
	a := [5]int32{1, 2, int32(n), 4, 5}
	table := [16][5]int32{a, a, a, {3: int32(n)}, a, a, a, a, a, a, a, a, a, a, a, {9, 8, 7, 6, int32(n)}}
	a[n%5] = 100
	for i := range table {
		for j, x := range table[i] {
			r.ArrayLargeOfArrays = r.ArrayLargeOfArrays*3 + int64(x)*int64(i+j)
		}
	}
	var x record
	for i := range 80 {
		x.cells[i%2][i/2].b = int16(int64(i) * n)
	}
	x.head, x.rows[8][n%3] = 7, int32(n)
	y := x
	x.cells[1][n%40].b++
	x.rows[8] = [3]int32{}
	r.ArrayLargeInStruct = int64(y.head) + int64(y.rows[8][n%3])*3 + int64(y.cells[1][n%40].b)*5 + int64(y.cells[0][39].b)*7 + int64(x.rows[8][n%3])
}

func sumArray(a [5]int64) (sum int64) {
	a[0] = 0
	for _, x := range a {
		sum += x
	}
	return sum
}

func squares(n int64) (s [3]int64) {
	for i := range s {
		s[i] = (n + int64(i)) * (n + int64(i))
	}
	return s
}

func moreArrays(n int64, r *arranged) {
	var large [200]uint16
	for i := range large {
		large[i] = uint16(i * i)
	}
	r.ArrayLarge = int64(large[(n*17)%200])
	var flags [10]bool
	for i := int64(0); i < 10; i += n + 1 {
		flags[i] = true
	}
	for i, f := range flags {
		if f {
			r.ArrayOfBool += 1 << i
		}
	}
	var word [8]byte
	for i := range word {
		word[i] = byte(n>>i) + 3
	}
	for _, b := range word {
		r.ArrayOfBytes = r.ArrayOfBytes<<3 ^ int64(b)
	}
	constant := [4]int64{9, 8, 7, 6}
	r.ArrayByConstant = constant[0]*constant[3] + constant[2]
	one := [1]int64{n}
	one[n*0]++
	r.ArrayOneElement = one[0]
	r.ArrayByteIndex = constant[uint8(n)&3] + constant[int8(n)&1]
	real := [3]float32{0.5, 1.5, float32(n)}
	for i := range real {
		real[i] *= float32(i + 1)
	}
	r.ArrayOfFloats = int64(real[0]*2 + real[1]*10 + real[2]*100)
	constant[n&1], constant[2] = constant[2], constant[n&1]
	r.ArraySwap = constant[0]*100 + constant[1]*10 + constant[2]
	for i := range n {
		var fresh [2]int64
		fresh[i&1] += i + 1
		r.ArrayInLoop = r.ArrayInLoop*2 + fresh[0] - fresh[1]
	}
	either := [2]int64{1, 2}
	if n > 3 {
		either = [2]int64{n, 5}
	}
	r.ArrayPhi = either[0]*10 + either[1]
}

func algorithms(n int64, r *arranged) {
	a := [6]int64{n * 7 % 11, 5, n % 3, 9, n, 2}
	for i := 1; i < len(a); i++ {
		for j := i; j > 0 && a[j] < a[j-1]; j-- {
			a[j], a[j-1] = a[j-1], a[j]
		}
	}
	for _, x := range a {
		r.ArraySort = r.ArraySort*12 + x
	}
	for i, j := 0, len(a)-1; i < j; i, j = i+1, j-1 {
		a[i], a[j] = a[j], a[i]
	}
	r.ArrayReverse = a[0]*100 + a[1]*10 + a[5]
	m, p := [2][2]int64{{1, 1}, {1, 0}}, [2][2]int64{{1, 0}, {0, 1}}
	for range n {
		var q [2][2]int64
		for i := range 2 {
			for j := range 2 {
				for k := range 2 {
					q[i][j] += p[i][k] * m[k][j]
				}
			}
		}
		p = q
	}
	r.ArrayMatrix = p[0][1]
	list, count := [8]int64{}, 0
	for i := range n % 8 {
		at := 0
		for at < count && list[at] > i*5%7 {
			at++
		}
		for j := count; j > at; j-- {
			list[j] = list[j-1]
		}
		list[at] = i * 5 % 7
		count++
	}
	r.ArrayInsertion = list[0]*100 + list[count/2]*10 + list[7]
	var bins [4]int32
	for i := range n * 3 {
		bins[i*i%4]++
	}
	r.ArrayHistogram = int64(bins[0])*100 + int64(bins[1])
	for i := 1; i < len(bins); i++ {
		bins[i] += bins[i-1]
	}
	r.ArrayPrefix = int64(bins[3])
}

// window is a struct with a slice in it.
type window struct {
	data []int64
	from int
}

func (w window) at(i int) int64 { return w.data[w.from+i] }

func first(x []int64) []int64 { return x[:2] }

func sum(x []int64) (s int64) {
	for _, v := range x {
		s += v
	}
	return s
}

func slices(n int64, r *arranged) {
	a := [8]int64{1, 2, 3, 4, 5, 6, 7, n}
	s := a[:]
	r.SliceOfArray = sum(s) + int64(len(s))*1000
	k := int(n % 5)
	r.SliceLow, r.SliceHigh, r.SliceFull = sum(s[k:]), sum(s[:k]), sum(s[k:k+2])
	u := s[2:6]
	v := u[1:3]
	r.SliceOfSlice = v[0]*10 + v[1]
	r.SliceEmpty = int64(len(s[k:k]))
	r.SliceLen, r.SliceCap = int64(len(v))*10+int64(len(u)), int64(cap(v))*10+int64(cap(u))
	w := s[1:3:5]
	r.SliceThreeIndex, r.SliceCapOfSlice = int64(len(w))*10+int64(cap(w)), int64(cap(w[1:]))*10+int64(cap(w[:0]))
	v[0] = n + 100
	r.SliceShares = a[3] + u[1]
	r.SliceExtend = sum(v[:cap(v)])
	var none []int64
	r.SliceNil = int64(len(none)) + int64(cap(none))
	if none == nil && s != nil {
		r.SliceNilCompare = 1
	}
	for range none {
		r.SliceNilRange++
	}
	r.SliceArgument = sum(v)
	x := first(u)
	x[1]++
	r.SliceResult = x[0] + x[1]*10 + int64(cap(x))*1000
}

func moreSlices(n int64, r *arranged) {
	a := [8]int64{8, 7, 6, 5, 4, 3, 2, n}
	s := a[2:]
	for range n % 4 {
		s = s[1:]
	}
	r.SliceReassigned = s[0]*10 + int64(len(s))
	for rest := a[:]; len(rest) >= 2; rest = rest[2:] {
		r.SliceAdvance = r.SliceAdvance*3 + rest[0] - rest[1]
	}
	w := window{a[1:7], 2}
	w.data[2] = n
	r.SliceInStruct = w.at(0)*10 + w.at(int(n%4)) + a[3]
	low, high := a[:4], a[4:]
	low, high = high, low
	r.SliceSwap = low[0]*10 + high[0]
	either := a[:]
	if n > 3 {
		either = a[3:]
	}
	r.SliceElementOfTwo = either[1]
	for i, j := 0, len(low)-1; i < j; i, j = i+1, j-1 {
		low[i], low[j] = low[j], low[i]
	}
	r.SliceSwapEnds = low[0]*100 + low[3]*10 + a[4]
	one, two := a[1:5], a[3:6]
	one[2] = 70
	two[1] = one[2] + n
	r.SliceTwoViews = one[2]*100 + two[0]*10 + a[4]
	for i := range one {
		one[i] = int64(i) * n
	}
	r.SliceFill = sum(a[:])
	at := 0
	for i, x := range a {
		if x < 20 {
			a[i], a[at] = a[at], a[i]
			at++
		}
	}
	r.SlicePartition = int64(at)*1000 + a[0]
	for i := range two {
		r.SliceDot += two[i] * one[i]
	}
	made := make([]int32, 5)
	made[n%5] = int32(n)
	r.SliceMake = int64(made[4])*10 + int64(made[0]) + int64(len(made))*100
	b := [6]uint8{1, 2, 3, 250, 5, 6}
	bytes := b[1:5]
	bytes[2] += 10
	r.SliceBytes = int64(b[3]) + int64(bytes[3])*1000
}

func copies(n int64, r *arranged) {
	a, b := [6]int64{1, 2, 3, 4, 5, n}, [6]int64{}
	copy(b[:], a[:])
	r.CopyAll = sum(b[:])
	r.CopyResult = int64(copy(b[2:], a[:2]))*1000 + int64(copy(b[:1], a[:]))
	r.CopyShorter = b[2]*100 + b[3]*10 + b[4]
	copy(a[1:], a[:])
	r.CopyOverlapUp = a[1]*1000 + a[2]*100 + a[4]*10 + a[5]
	copy(a[:], a[2:])
	r.CopyOverlapDown = a[0]*1000 + a[1]*100 + a[3]*10 + a[5]
	clear(b[1:3])
	r.ClearPart = b[0]*1000 + b[1]*100 + b[2]*10 + b[3]
	clear(b[:])
	r.ClearSlice = sum(b[:])
	s := a[1:5]
	c := [3]int64(s)
	c[0] = 99
	r.ToArray = c[0] + c[2]*10 + a[1]
	p := (*[2]int64)(s)
	p[1] = n * 2
	r.ToArrayPointer = p[1] + a[2]*10
}
