package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func copies(t gpu.Thread, x []uint8, y [][3]int32, n int) {
	bytes := gpu.Shared[[64]uint8](t)
	triples := gpu.Shared[[64][3]int32](t)
	gpu.CopyAsync(t, &bytes[0], &x[0])   // want "gpu.CopyAsync of 1 bytes; the size must be 4, 8 or 16"
	gpu.CopyAsync(t, &triples[0], &y[0]) // want "gpu.CopyAsync of 12 bytes"
	t.CommitCopies()
	t.WaitCopies(n) // want "t.WaitCopies requires a constant from 0 to 7 \(GW0120\)"
	t.WaitCopies(8) // want "t.WaitCopies requires a constant"
}
