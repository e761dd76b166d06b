package cuda

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// CopyRows implements driver.StridedCopier.
func (q *queue) CopyRows(dst, src driver.Rows, width, rows int) error {
	c := &cudasys.Copy2D{
		Src:   cudasys.Side2D{Type: cudasys.OnDevice, Device: src.Address, Pitch: uintptr(src.Pitch)},
		Dst:   cudasys.Side2D{Type: cudasys.OnDevice, Device: dst.Address, Pitch: uintptr(dst.Pitch)},
		Width: uintptr(width), Height: uintptr(rows),
	}
	err := q.locked("cuMemcpy2DAsync", func() cudasys.Status { return q.backend.driver.Memcpy2DAsync(c, q.stream) })
	return about(err, fmt.Sprintf("%d rows of %s", rows, bytesText(width)))
}
