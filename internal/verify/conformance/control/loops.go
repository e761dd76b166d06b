package control

import "github.com/gopherwarp/gopherwarp/gpu"

// looped has a behaviour of loops a field.
type looped struct {
	Condition, ThreeParts, ConditionOnly, Forever, NeverEntered, OnceAtLeast int64
	Down, UnsignedDown, Steps, TwoVariables, StepChanges, BoundChanges       int64
	BreakInner, BreakOuter, ContinueInner, ContinueOuter, BreakInSwitch      int64
	ReturnInside, NestedThree, Triangular, NestedZero, SequentialLoops       int64
	RangeInt, RangeIntZero, RangeIntNegative, RangeIntTyped, RangeIntNoName  int64
	RangeIntChanged, RangeArray, RangeArrayPointer, RangeArrayCopied         int64
	RangeSlice, RangeSliceIndex, RangeSliceEmpty, RangeSliceGrownMeanwhile   int64
	PerIterationVariable, GotoBack, GotoForward, LabelledSwitch, WhileNested int64
	InvariantInside, InvariantGuarded, ExitValue, TwoExits, TwoLatches       int64
	Collatz, Factorial, GreatestDivisor, Primes, BinarySearch, PowerByHalves int64
}

func loopAll(n int64) (r looped) {
	loopForms(n, &r)
	loopSteps(n, &r)
	loopJumps(n, &r)
	loopRanges(n, &r)
	loopShapes(n, &r)
	r.Collatz, r.Factorial, r.GreatestDivisor = collatz(n), factorial(n%12), greatestDivisor(n*6, 84)
	r.Primes, r.BinarySearch, r.PowerByHalves = primes(n), binarySearch(n), power(3, n)
	return r
}

//gpu:kernel
func loops(t gpu.Thread, n []int64, out []looped) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = loopAll(n[i])
	}
}

func loopForms(n int64, r *looped) {
	for i := int64(0); i < n; i++ {
		r.ThreeParts += i * i
	}
	i := n
	for i > 3 {
		i -= 2
		r.ConditionOnly += i
	}
	for {
		if r.Forever*2 >= n {
			break
		}
		r.Forever++
	}
	for j := n; j < n; j++ {
		r.NeverEntered++
	}
	for once := true; once; once = r.OnceAtLeast < n {
		r.OnceAtLeast++
	}
	for c := n; c != 0 && c != 7; c-- {
		r.Condition += 10
	}
}

func loopSteps(n int64, r *looped) {
	for i := n - 1; i >= 0; i-- {
		r.Down = r.Down*3 + i
	}
	for i := uint8(n); i > 0; i-- {
		r.UnsignedDown += int64(i)
	}
	for i := int64(0); i < n; i += 3 {
		r.Steps += i
	}
	for i, j := int64(0), n; i < j; i, j = i+1, j-2 {
		r.TwoVariables += i * j
	}
	for i := int64(1); i < n*n; i *= 2 {
		r.StepChanges += i
	}
	for i, end := int64(0), n; i < end; i++ {
		if i%3 == 0 {
			end--
		}
		r.BoundChanges += end
	}
}

func loopJumps(n int64, r *looped) {
	for i := range n {
		for j := range n {
			if j > i {
				break
			}
			r.BreakInner += j
		}
		for j := range n {
			if j%2 == 0 {
				continue
			}
			r.ContinueInner += i - j
		}
	}
outer:
	for i := range n {
		for j := range n {
			switch {
			case i*j > 20:
				break outer
			case j == i:
				continue outer
			case j == 2:
				if n > 0 {
					break
				}
				r.BreakInSwitch += 100
			default:
				r.BreakInSwitch++
			}
			r.ContinueOuter += j
		}
		r.BreakOuter++
	}
	r.ReturnInside = firstMultiple(n)
}

func firstMultiple(n int64) int64 {
	for i := range 10 {
		for j := int64(1); j < 10; j++ {
			if int64(i)*j == n {
				return int64(i)*100 + j
			}
		}
	}
	return -1
}

func loopRanges(n int64, r *looped) {
	for i := range n {
		r.RangeInt += i
	}
	for range n {
		r.RangeIntNoName++
	}
	for range n - r.RangeIntNoName {
		r.RangeIntZero++
	}
	for range -n - 1 {
		r.RangeIntNegative++
	}
	for i := range uint8(n) {
		r.RangeIntTyped += int64(i - 3)
	}
	bound := n
	for i := range bound {
		bound, i = 0, i+5
		r.RangeIntChanged += i
	}
	table := [5]int64{n, 2, 3, 5, 8}
	for i, x := range table {
		table[4] = 100
		r.RangeArrayCopied += int64(i) * x
	}
	for i := range table {
		r.RangeArray += int64(i) * table[i]
	}
	for i, x := range &table {
		table[4] = 1000
		r.RangeArrayPointer += int64(i) * x
	}
	loopSlices(table, r)
}

func loopSlices(table [5]int64, r *looped) {
	s := table[1:4]
	for i, x := range s {
		r.RangeSlice += x << i
	}
	for i := range s {
		r.RangeSliceIndex += int64(i)
	}
	for range s[:0] {
		r.RangeSliceEmpty++
	}
	for i, x := range s {
		s = table[:]
		s[3] = 50
		r.RangeSliceGrownMeanwhile += x + int64(i)
	}
	var kept [3]*int64
	for i := range int64(3) {
		kept[i] = &table[i]
		i += 10
		*kept[i-10] = i
	}
	r.PerIterationVariable = *kept[0] + 2**kept[1] + 3**kept[2]
}

func loopShapes(n int64, r *looped) {
	i := int64(0)
again:
	if i < n {
		i++
		r.GotoBack += i
		goto again
	}
	if n%2 == 0 {
		goto even
	}
	r.GotoForward = 1
even:
	r.GotoForward += 10
block:
	switch {
	default:
		for i := range n {
			if i > 5 {
				break block
			}
		}
		r.LabelledSwitch = n
	}
	for a := n; a > 0; a /= 2 {
		for b := a; b > 0; b -= 3 {
			r.WhileNested += b
		}
	}
	loopNests(n, r)
	loopExits(n, r)
}

func loopNests(n int64, r *looped) {
	for i := range int64(3) {
		for j := range int64(4) {
			for k := range n {
				r.NestedThree += i*j - k
			}
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			r.Triangular += i ^ j
		}
		for range i - n {
			r.NestedZero++
		}
	}
	for i := range n {
		r.SequentialLoops += i
	}
	for i := range r.SequentialLoops % 5 {
		r.SequentialLoops -= i
	}
	for i := range n {
		r.InvariantInside += i * (n*n + 7)
		if n > 3 {
			r.InvariantGuarded += 100 / (n - 3)
		}
	}
}

func loopExits(n int64, r *looped) {
	i := int64(0)
	for ; i < n; i++ {
		if i*i > n {
			break
		}
	}
	r.ExitValue = i
	j := int64(0)
	for j < 100 {
		j++
		if j%7 == n%7 {
			r.TwoExits = 1000
			break
		}
		if j%5 == n%5 {
			r.TwoExits = 2000
			break
		}
	}
	r.TwoExits += j
	for k := int64(0); k < n; {
		if k%3 == 0 {
			k++
			continue
		}
		r.TwoLatches += k
		k += 2
	}
}

func collatz(n int64) (steps int64) {
	for n++; n != 1; steps++ {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
	}
	return steps
}

func factorial(n int64) int64 {
	p := int64(1)
	for n > 1 {
		p *= n
		n--
	}
	return p
}

func greatestDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func primes(n int64) (count int64) {
candidates:
	for p := int64(2); p < n*3; p++ {
		for d := int64(2); d*d <= p; d++ {
			if p%d == 0 {
				continue candidates
			}
		}
		count++
	}
	return count
}

func binarySearch(n int64) int64 {
	table := [9]int64{1, 2, 4, 5, 9, 12, 13, 21, 40}
	low, high := 0, len(table)
	for low < high {
		if middle := int(uint(low+high) >> 1); table[middle] < n {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return int64(low)
}

func power(x, n int64) int64 {
	p := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}
