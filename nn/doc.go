// Package nn has layers of neural networks whose parameters are loaded from files.
//
// A model is a struct of layers. Tags name the tensors of each layer, for files in the names of Hugging Face and for GGUF files:
//
//	type Block struct {
//		Norm nn.RMSNorm `weights:"post_attention_layernorm" gguf:"ffn_norm"`
//		Gate nn.Linear  `weights:"mlp.gate_proj" gguf:"ffn_gate"`
//		Up   nn.Linear  `weights:"mlp.up_proj" gguf:"ffn_up"`
//		Down nn.Linear  `weights:"mlp.down_proj" gguf:"ffn_down"`
//	}
//
//	func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
//		y := b.Norm.Forward(x)
//		return nn.Add(x, b.Down.Forward(nn.SwiGLU(b.Gate.Forward(y), b.Up.Forward(y))))
//	}
//
//	params, err := nn.NewParams(stream)
//	defer params.Close()
//	err = nn.Load(params, &model, file) // a slice of Blocks takes a number in its tag: `gguf:"blk.%d"`
//
// Activations are float32. Matrices keep the format of their file: quantized in blocks (Q4_0, Q4_1, Q8_0), or BF16.
package nn
