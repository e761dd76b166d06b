package cuda

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// tensorTypes has the driver's types for elements by their size; copies depend on nothing else.
var tensorTypes = map[int]int32{1: cudasys.TensorUint8, 2: cudasys.TensorUint16, 4: cudasys.TensorUint32, 8: cudasys.TensorUint64}

// EncodeTensorMap implements driver.TensorMapper.
func (b *backend) EncodeTensorMap(dst *[driver.TensorMapBytes]byte, p driver.TensorPlan) error {
	typ, ok := tensorTypes[p.Element]
	if !ok {
		return fmt.Errorf("cuda: tensor map of elements of %d bytes: %w", p.Element, driver.ErrUnsupported)
	}
	m, _ := b.maps.Get().(*cudasys.TensorMap)
	if m == nil {
		m = new(cudasys.TensorMap)
	}
	defer b.maps.Put(m)
	m.DataType, m.Address, m.Swizzle = typ, p.Address, cudasys.SwizzleNone
	m.Box = [3]uint32{uint32(p.Box[0]), uint32(p.Box[1]), 1}
	if p.Panels {
		m.Swizzle = cudasys.Swizzle128
	}
	for i, n := range p.Size {
		m.Dim[i] = uint64(n)
	}
	for i, n := range p.Stride {
		m.Strides[i] = uint64(n)
	}
	err := b.do("cuTensorMapEncodeTiled", func() cudasys.Status { return b.driver.TensorMapEncodeTiled(m) })
	if err != nil {
		return about(err, fmt.Sprintf("%v elements of %d bytes, tiles of %v", p.Size, p.Element, p.Box))
	}
	*dst = *m.Result()
	return nil
}
