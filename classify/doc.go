// Package classify finds the classes of pictures with trained networks: ResNets whose tensors have torchvision's names, and EfficientNet-Lite0.
//
//	m, err := classify.Open(dev, "models/efficientnet_lite0", classify.Options{})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	picture, err := classify.Decode(data) // the contents of a JPEG or PNG file
//	...
//	classes, err := m.Classify(ctx, 5, picture)
//	fmt.Println(classes[0][0].Name, classes[0][0].Probability)
//
// A picture is first resized so that its shorter side has 256 pixels, with bilinear interpolation for ResNets and bicubic interpolation for
// EfficientNets. As in Pillow, resizing is antialiased. The model then classifies the square of 224 by 224 pixels in the middle.
package classify
