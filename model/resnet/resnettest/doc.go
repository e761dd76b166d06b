// Package resnettest makes files of ResNets with random weights, for tests and benchmarks.
//
//	file, err := resnettest.Random(resnet.Config{Blocks: [4]int{3, 4, 6, 3}, Width: 64, Bottleneck: true, Classes: 1000}, 1)
//	m, err := resnet.Load(stream, file, resnet.LoadOptions{})
package resnettest
