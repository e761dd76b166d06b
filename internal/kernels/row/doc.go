// Package row has what kernels that work on the rows of a matrix share: the conversions of their element types, and the choice
// between the forms of a kernel. It has no kernels.
//
// A kernel is generic over its element type and that type's Format, which converts to float32 and back:
//
//	//gpu:kernel
//	//gpu:instance double32 = double[float32, row.F32]
//	//gpu:instance doubleB = double[dtype.BF16, row.BF16]
//	func double[T any, F row.Format[T]](t gpu.Thread, x []T) {
//		var f F
//		if i := t.GlobalX(); i < len(x) {
//			x[i] = f.Of(2 * f.Float32(x[i]))
//		}
//	}
package row
