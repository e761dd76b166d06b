package gguf

// value reads a metadata value. Depth is the number of arrays around it.
func (d *decoder) value(t valueType, depth int) any {
	switch t {
	case typeUint8:
		return d.uint8()
	case typeInt8:
		return int8(d.uint8())
	case typeUint16:
		return d.uint16()
	case typeInt16:
		return int16(d.uint16())
	case typeUint32:
		return d.uint32()
	case typeInt32:
		return int32(d.uint32())
	case typeFloat32:
		return d.float32()
	case typeBool:
		return d.bool()
	case typeString:
		return d.string()
	case typeArray:
		return d.array(depth)
	case typeUint64:
		return d.uint64()
	case typeInt64:
		return int64(d.uint64())
	case typeFloat64:
		return d.float64()
	}
	d.fail("metadata type %d is unknown", t)
	return nil
}

// array reads an array as a slice.
func (d *decoder) array(depth int) any {
	t, n := valueType(d.uint32()), d.uint64()
	switch t {
	case typeUint8:
		return list(d, n, 1, d.uint8)
	case typeInt8:
		return list(d, n, 1, func() int8 { return int8(d.uint8()) })
	case typeUint16:
		return list(d, n, 2, d.uint16)
	case typeInt16:
		return list(d, n, 2, func() int16 { return int16(d.uint16()) })
	case typeUint32:
		return list(d, n, 4, d.uint32)
	case typeInt32:
		return list(d, n, 4, func() int32 { return int32(d.uint32()) })
	case typeFloat32:
		return list(d, n, 4, d.float32)
	case typeBool:
		return list(d, n, 1, d.bool)
	case typeString:
		return list(d, n, 8, d.string)
	case typeUint64:
		return list(d, n, 8, d.uint64)
	case typeInt64:
		return list(d, n, 8, func() int64 { return int64(d.uint64()) })
	case typeFloat64:
		return list(d, n, 8, d.float64)
	case typeArray:
		if depth+1 >= maxNesting {
			d.fail("arrays are nested deeper than %d", maxNesting)
			return nil
		}
		return list(d, n, 12, func() any { return d.array(depth + 1) })
	}
	d.fail("metadata type %d of an array is unknown", t)
	return nil
}

// list reads n elements, each of which has at least size bytes in the file.
func list[T any](d *decoder, n, size uint64, element func() T) []T {
	if !d.need("elements of an array", n, size) {
		return nil
	}
	values := make([]T, n)
	for i := range values {
		if values[i] = element(); d.err != nil {
			return nil
		}
	}
	return values
}
