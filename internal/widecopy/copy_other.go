//go:build !amd64

package widecopy

// Copy copies src to dst, which has the same length.
func Copy(dst, src []byte) {
	if len(dst) != len(src) {
		panic("BUG: widecopy of different lengths")
	}
	copy(dst, src)
}
