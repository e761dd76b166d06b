// Package efficientnet runs EfficientNet-Lite0, a small network that classifies images. The network is TensorFlow Lite's variant of Tan and
// Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks". The tensors of a file must have the same names as in
// efficientnet_lite_pytorch.
//
//	file, err := formats.Open("models/efficientnet_lite0")
//	m, err := efficientnet.Load(stream, file, efficientnet.LoadOptions{})
//	defer m.Close()
//	err = tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
//		x := tensor.From(s, pixels, n, 224, 224, 3) // red, green and blue, normalized with Mean and Deviation
//		scores, err := tensor.Values[float32](ctx, m.Forward(x))
//		...
//	})
//
// Load merges batch norms into the filters. As in TensorFlow, the input of a filter with a stride of 2 gets more padding below and on the
// right than above and on the left.
package efficientnet
