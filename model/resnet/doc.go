// Package resnet computes the networks for the classification of images of He et al., "Deep Residual Learning for Image Recognition" (2015),
// from files with the names of torchvision's tensors.
//
//	file, err := formats.Open("resnet50.safetensors")
//	m, err := resnet.Load(stream, file, resnet.LoadOptions{})
//	defer m.Close()
//	err = tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
//		x := tensor.From(s, pixels, n, 224, 224, 3) // red, green and blue, normalized as Mean and Deviation say
//		scores, err := tensor.Values[float32](ctx, m.Forward(x))
//		...
//	})
//
// Blocks with a bottleneck have the stride in their second convolution, as torchvision's do. Batch norms become part of the filters when
// a model is loaded.
package resnet
