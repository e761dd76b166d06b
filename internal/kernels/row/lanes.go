package row

// Lanes is the number of threads in a block of a Plain kernel, that of the lanes of AVX-512.
const Lanes = 16

// SumLanes returns the sum of what the threads of a Plain kernel's block have.
func SumLanes(parts *[Lanes]float32) (sum float32) {
	for i := range Lanes {
		sum += parts[i]
	}
	return sum
}
