package driver

// poison is a byte whose repetition is a NaN as a float, and -1 as a signed integer.
const poison = 0xFF

// Poison overwrites freed memory, so that a program that still uses it gets wrong results. Back ends call it for
// HostMemory that is ordinary Go memory and does not belong to the program.
func Poison(p []byte) {
	for i := range p {
		p[i] = poison
	}
}
