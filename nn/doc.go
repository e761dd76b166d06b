// Package nn has layers of neural networks. The parameters of a layer are loaded from a file, trained, or both.
//
// A model is a struct of layers. Struct tags name the tensors of each layer: the key "weights" gives the name in files of Hugging Face, and the key
// "gguf" gives the name in GGUF files:
//
//	type Block struct {
//		Norm   nn.RMSNorm `weights:"post_attention_layernorm" gguf:"ffn_norm"`
//		GateUp nn.Stacked `weights:"mlp.{gate,up}_proj" gguf:"ffn_{gate,up}"`
//		Down   nn.Linear  `weights:"mlp.down_proj" gguf:"ffn_down"`
//	}
//
//	func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor { // x is the residual stream
//		return b.Down.AddTo(x, b.GateUp.SwiGLU(&b.Norm, x))
//	}
//
//	params := nn.NewParams(stream, nn.Options{})
//	defer params.Close()
//	err = nn.Load(params, &model, file, nn.LoadOptions{}) // %d in the tag of a slice stands for the index: `gguf:"blk.%d"`
//
// Layers that Load sets are constant, unless LoadOptions.Train is set. Layers made by NewLinear, NewEmbedding, NewMultiHead and similar functions
// begin with random values, and package train trains them. A layer of your own uses Parameters:
//
//	params := nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})
//	hidden, scale := nn.NewLinear(params, 64, 128), params.Parameter([]float32{1}, 1)
//	y := hidden.Forward(x).Mul(scale.In(x.Scope()))
//
// SaveFile writes trained layers to a file, and LoadFile sets their values to those of a file:
//
//	model := struct{ In, Out nn.Linear }{nn.NewLinear(params, 64, 128), nn.NewLinear(params, 128, 10)}
//	err := nn.SaveFile(ctx, &model, "model.safetensors")                     // the tensors In.weight, In.bias, Out.weight and Out.bias
//	err = nn.LoadFile(params, &model, "model.safetensors", nn.LoadOptions{}) // the layers are still trained
//
// In a loaded model, the residual stream is float32. By default, the activations that layers pass to each other are bfloat16 on recent GPUs and
// float32 on other devices (see Options). Quantized matrices keep their format on the device (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K). Dense
// matrices get the type of the activations, except that BF16 matrices stay BF16 if activations are float32.
package nn
