// Package resnet runs ResNets, networks that classify images (He et al., "Deep Residual Learning for Image Recognition", 2015). The tensors of
// a file must have the same names as in torchvision.
//
//	file, err := formats.Open("resnet50.safetensors")
//	m, err := resnet.Load(stream, file, resnet.LoadOptions{})
//	defer m.Close()
//	err = tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
//		x := tensor.From(s, pixels, n, 224, 224, 3) // red, green and blue, normalized with Mean and Deviation
//		scores, err := tensor.Values[float32](ctx, m.Forward(x))
//		...
//	})
//
// As in torchvision, the second convolution of a bottleneck block has the stride. Load merges batch norms into the filters.
package resnet
