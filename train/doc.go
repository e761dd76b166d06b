// Package train has what the training of models needs: optimizers, learning-rate schedules, and batches of examples.
//
//	params := nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})
//	defer params.Close()
//	hidden, last := nn.NewLinear(params, 64, 128), nn.NewLinear(params, 128, 10)
//	opt := train.NewAdamW(params, train.AdamWOptions{Rate: 3e-3, Decay: 0.01, Clip: 1})
//	defer opt.Close()
//	for b := range digits.Batches(64, epoch) {
//		err := tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
//			s.Record()
//			x := tensor.From(s, b.Inputs, b.Len(), 64)
//			logits := last.Forward(hidden.Forward(x).GELU())
//			s.Backward(logits.CrossEntropy(tensor.From(s, b.Labels, b.Len())))
//			return opt.Step(s)
//		})
//		...
//	}
//
// Each run of a program on the same device gives the same bits. Until the next Step, each Backward adds to the derivatives, so a step may consist of
// several small batches.
//
// To continue a training later, save the layers by nn.SaveFile, and the state of the optimizer by its method SaveFile.
package train
