// Package efficientnet computes EfficientNet-Lite0, a small network for the classification of images (Tan and Le, "EfficientNet: Rethinking
// Model Scaling for Convolutional Neural Networks", in the variant of TensorFlow Lite), from files with the names of the tensors of
// efficientnet_lite_pytorch.
//
//	file, err := formats.Open("models/efficientnet_lite0")
//	m, err := efficientnet.Load(stream, file, efficientnet.LoadOptions{})
//	defer m.Close()
//	err = tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
//		x := tensor.From(s, pixels, n, 224, 224, 3) // red, green and blue, normalized as Mean and Deviation say
//		scores, err := tensor.Values[float32](ctx, m.Forward(x))
//		...
//	})
//
// Batch norms become part of the filters when a model is loaded. Filters that move by two places are padded as TensorFlow's are: more below
// and on the right.
package efficientnet
