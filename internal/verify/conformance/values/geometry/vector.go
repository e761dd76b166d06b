package geometry

// Vector is a point or a direction.
type Vector struct{ X, Y, Z float64 }

// Dot returns the scalar product.
func (v Vector) Dot(w Vector) float64 { return float64(v.X*w.X) + float64(v.Y*w.Y) + float64(v.Z*w.Z) }

// Scale multiplies v by a number.
func (v *Vector) Scale(by float64) {
	v.X *= by
	v.Y *= by
	v.Z *= by
}

// Limit is a constant for other packages.
const Limit = 42

// Primes is a table that nothing writes.
var Primes = [8]uint16{2, 3, 5, 7, 11, 13, 17, 19}

// secret is a table behind a function.
var secret = []int32{-1, 10, -100, 1000}

// Secret returns an element of a table of this package.
func Secret(i int) int32 { return secret[i&3] }

// Sum adds numbers of any type.
func Sum[T int32 | int64 | float64](x ...T) (sum T) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// Stack keeps a few numbers.
type Stack[T any] struct {
	items [8]T
	Depth int
}

// Push puts v on top; what does not fit is dropped.
func (s *Stack[T]) Push(v T) {
	if s.Depth < len(s.items) {
		s.items[s.Depth] = v
		s.Depth++
	}
}

// Pop takes the last number that was put on top.
func (s *Stack[T]) Pop() (v T, ok bool) {
	if s.Depth == 0 {
		return v, false
	}
	s.Depth--
	return s.items[s.Depth], true
}
