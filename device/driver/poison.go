package driver

// poison is a byte whose repetition is a NaN as a float, and -1 as a signed integer.
const poison = 0xFF

// Poison overwrites freed memory, so that a program that still uses the memory gets wrong results. Back ends call
// Poison for HostMemory that they have allocated as ordinary Go memory.
func Poison(p []byte) {
	for i := range p {
		p[i] = poison
	}
}
