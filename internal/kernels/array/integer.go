package array

// ofInt returns the result of an operation on integers.
func ofInt(op Op, x, y int64) int64 {
	switch op {
	case Copy:
		return x
	case Neg:
		return -x
	case Abs:
		return max(x, -x)
	case Square:
		return x * x
	case ReLU:
		return max(x, 0)
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Maximum:
		return max(x, y)
	case Minimum:
		return min(x, y)
	case Pow:
		return power(x, y)
	}
	return compare(op, x, y)
}

// power returns x to the power of y, which for a negative y is 0 unless x is 1 or -1.
func power(x, y int64) int64 {
	if y < 0 {
		if x != 1 && x != -1 {
			return 0
		}
		y = -y
	}
	v := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			v *= x
		}
		x *= x
	}
	return v
}
