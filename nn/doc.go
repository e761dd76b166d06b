// Package nn has layers of neural networks, whose parameters are loaded from files or trained.
//
// A model is a struct of layers. Tags name the tensors of each layer, for files in the names of Hugging Face and for GGUF files:
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
//	err = nn.Load(params, &model, file, nn.LoadOptions{}) // a slice of Blocks takes a number in its tag: `gguf:"blk.%d"`
//
// Layers of NewLinear, NewEmbedding, NewMultiHead and similar functions are trained by package train instead, from random values. Layers that
// are loaded are constant, and pass derivatives to their input. Layers of a program's own use Parameters:
//
//	params := nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})
//	hidden, scale := nn.NewLinear(params, 64, 128), params.Parameter([]float32{1}, 1)
//	y := hidden.Forward(x).Mul(scale.In(x.Scope()))
//
// In models that are loaded, the residual stream is float32. Activations, which layers pass to each other, are bfloat16 on GPUs and float32
// on CPUs (see Params.Activations). On the device, quantized matrices keep their format (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0,
// Q2_K to Q6_K), and dense ones become bfloat16 where activations are; else BF16 remains, and F16 and F32 become float32.
//
// Many rows are multiplied by package gemm, and one row by the fused kernels of package matvec, where activations are bfloat16.
package nn
