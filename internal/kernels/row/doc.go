// Package row has what kernels that work on the rows of a matrix share: the conversions of their element types, the choice between
// the forms of a kernel, and the teams of threads that share a row on a GPU. It has no kernels.
//
// A kernel of the Plain form is generic over its element type and that type's Format, which converts to float32 and back:
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
//
// One of the Wide form accesses Words, 16 bytes of any element type, and is generic over the format's Vectors:
//
//	//gpu:kernel
//	//gpu:instance double4 = double[[4]float32, row.F32]
//	//gpu:instance double8 = double[[8]float32, row.BF16]
//	func double[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x []row.Words) {
//		var f F
//		if i := t.GlobalX(); i < len(x) {
//			a := f.Unpack(x[i])
//			for k := range len(a) {
//				a[k] *= 2
//			}
//			x[i] = f.Pack(a)
//		}
//	}
package row
