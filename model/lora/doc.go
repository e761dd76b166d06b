// Package lora adapts linear layers by products of two small matrices: y = W x + scale B A x, where only A and B are trained (Hu et al.,
// "LoRA: Low-Rank Adaptation of Large Language Models"). Options.DoRA also trains the norms of the rows of W + scale B A.
//
//	adapter, err := lora.New(stream, model.Linears(), lora.Options{Rank: 16, Alpha: 32})
//	defer adapter.Close()
//	err = model.Adapt(adapter)
//	opt := train.NewAdamW(adapter.Params(), train.AdamWOptions{Rate: 2e-4})
//	...
//	err = adapter.Save(ctx, stream, "adapter")                        // a folder as the Python package PEFT writes it
//	adapter, err = lora.Open(stream, model.Linears(), "adapter")
//
// Layers have the names of their modules in the Python package transformers. The rows of B are in the order that transformers uses, even if
// the model's file has another order.
package lora
