package control

import "github.com/gopherwarp/gopherwarp/gpu"

// branched has a behaviour of conditions and switches a field.
type branched struct {
	If, IfElse, ElseIf, IfInit, NestedIf, EmptyIf, IfReturn, ConditionChain   int64
	SwitchValue, SwitchList, SwitchDefaultFirst, SwitchNoDefault, SwitchInit  int64
	SwitchTrue, SwitchFallthrough, SwitchFallthroughToDefault, SwitchBreak    int64
	SwitchDuplicateBoolean, SwitchVariableCases, SwitchCaseOrder, SwitchEmpty int64
	SwitchFloat, SwitchBool, SwitchArray, SwitchStruct, NestedSwitch          int64
	AndShort, OrShort, NotNegates, BooleanValue, BooleanPhi, MixedLogic       int64
	Min3, Clamp, Sign, DivergentSum, BothSidesAlike, GuardedDivision          int64
	DeMorgan, CompareChain, BooleanCompare, SelectOfAddresses, LongDiamond    int64
}

func branchAll(n int64) (r branched) {
	branchIf(n, &r)
	r.IfReturn, r.Sign, r.Clamp = early(n), sign(n), clamp(n, -2, 5)
	switchForms(n, &r)
	switchTypes(n, &r)
	logic(n, &r)
	diamonds(n, &r)
	return r
}

//gpu:kernel
func branches(t gpu.Thread, n []int64, out []branched) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = branchAll(n[i])
	}
}

func branchIf(n int64, r *branched) {
	if n > 2 {
		r.If = n
	}
	if n%2 == 0 {
		r.IfElse = 1
	} else {
		r.IfElse = 2
	}
	if n < 0 {
		r.ElseIf = -1
	} else if n < 4 {
		r.ElseIf = n
	} else if n == 5 {
		r.ElseIf = 50
	} else {
		r.ElseIf = 99
	}
	if m := n * n; m > 9 {
		r.IfInit = m
	} else {
		r.IfInit = -m
	}
	if n > 0 {
		if n > 5 {
			r.NestedIf = 1
			if n == 7 {
				r.NestedIf = 2
			}
		} else {
			r.NestedIf = 3
		}
	}
	r.EmptyIf = 1
	if n > 0 && n&1 == 0 || n < -3 {
		r.ConditionChain = n
	}
}

func early(n int64) int64 {
	if n < 0 {
		return -1
	}
	if n == 0 {
		return 0
	}
	return 1
}

func sign(n int64) int64 {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func clamp(n, low, high int64) int64 {
	if n < low {
		n = low
	}
	if n > high {
		n = high
	}
	return n
}

func switchForms(n int64, r *branched) {
	switch n {
	case 0:
		r.SwitchValue = 10
	case 1:
		r.SwitchValue = 11
	case -3:
		r.SwitchValue = 12
	default:
		r.SwitchValue = 13
	}
	switch n {
	case 1, 2, 3:
		r.SwitchList = 1
	case 4, 5:
		r.SwitchList = 2
	}
	switch n {
	default:
		r.SwitchDefaultFirst = 1
	case 2:
		r.SwitchDefaultFirst = 2
	}
	r.SwitchNoDefault = 7
	switch n {
	case 3:
		r.SwitchNoDefault = 8
	}
	switch m := n & 3; m {
	case 1:
		r.SwitchInit = m + 5
	case 2:
		r.SwitchInit = m * 5
	}
	switch {
	case n > 5:
		r.SwitchTrue = 1
	case n > 2:
		r.SwitchTrue = 2
	}
	switchJumps(n, r)
}

func switchJumps(n int64, r *branched) {
	switch n {
	case 1:
		r.SwitchFallthrough = 1
		fallthrough
	case 2:
		r.SwitchFallthrough += 10
		fallthrough
	case 3:
		r.SwitchFallthrough += 100
	case 4:
		r.SwitchFallthrough = -1
	}
	switch n {
	case 5:
		r.SwitchFallthroughToDefault++
		fallthrough
	default:
		r.SwitchFallthroughToDefault += 5
	case 6:
	}
	switch {
	case n > 1:
		if n > 3 {
			break
		}
		r.SwitchBreak = n
	}
	switch {
	case n > 2, n > 1:
		r.SwitchDuplicateBoolean = 1
	case n > 1:
		r.SwitchDuplicateBoolean = 2
	}
	switch a, b := n+1, n*2; int64(4) {
	case a:
		r.SwitchVariableCases = 1
	case b:
		r.SwitchVariableCases = 2
	}
	calls := int64(0)
	count := func(x int64) int64 { calls++; return x }
	switch n {
	case count(1), count(2):
	case count(3):
	}
	r.SwitchCaseOrder = calls
	switch {
	}
	r.SwitchEmpty = n
}

type point struct{ x, y int32 }

func switchTypes(n int64, r *branched) {
	switch float64(n) / 2 {
	case 0.5:
		r.SwitchFloat = 1
	case 1:
		r.SwitchFloat = 2
	}
	switch n > 2 {
	case true:
		r.SwitchBool = 1
	case false:
		r.SwitchBool = 2
	}
	switch [2]int64{n, 1} {
	case [2]int64{1, 1}:
		r.SwitchArray = 1
	case [2]int64{2, 2}:
		r.SwitchArray = 2
	case [2]int64{3, 1}:
		r.SwitchArray = 3
	}
	switch (point{int32(n), 2}) {
	case point{1, 1}:
		r.SwitchStruct = 1
	case point{1, 2}:
		r.SwitchStruct = 2
	}
	switch {
	case n > 0:
		switch n {
		case 1:
			r.NestedSwitch = 1
		case 2:
			r.NestedSwitch = 2
		}
	default:
		r.NestedSwitch = 3
	}
}

func logic(n int64, r *branched) {
	called := int64(0)
	yes := func() bool { called++; return true }
	if n > 2 && yes() {
		called += 10
	}
	r.AndShort = called
	if n > 2 || yes() {
		called += 100
	}
	r.OrShort = called
	if !(n > 2) {
		r.NotNegates = 1
	}
	b := n > 2 && n < 6
	if b {
		r.BooleanValue = 1
	}
	c := b
	for range n & 3 {
		c = !c
	}
	if c != b {
		r.BooleanPhi = 1
	}
	if (n > 1 || n < -1) && !(n == 3) && (n&1 == 1 || n == 4) {
		r.MixedLogic = 1
	}
	if !(n > 1 && n < 5) == (n <= 1 || n >= 5) {
		r.DeMorgan = 1
	}
	if 1 < n && n < 4 && 4 < n*n {
		r.CompareChain = 1
	}
	if b == c {
		r.BooleanCompare = 1
	}
}

func diamonds(n int64, r *branched) {
	r.Min3 = min(n, 3, 9-n)
	sum := n
	if n%2 == 0 {
		sum += 10
	} else {
		sum -= 10
	}
	if n%3 == 0 {
		sum *= 2
	}
	r.DivergentSum = sum
	if n > 3 {
		r.BothSidesAlike = n + 1
	} else {
		r.BothSidesAlike = n + 1
	}
	if n != 0 {
		r.GuardedDivision = 1000 / n
	}
	a, b := n, n*100
	p := &a
	if n > 2 {
		p = &b
	}
	*p += 5
	r.SelectOfAddresses = a + b
	x := n
	if n > 1 {
		x = x*3 + 1
		x ^= x >> 2
		x = x*5 - n
		x ^= x << 1
		x -= n * n
		x |= 4
	} else {
		x = -x*7 + 2
		x &= 0xffff
		x += n * n * n
		x ^= 0x55
	}
	r.LongDiamond = x
}
