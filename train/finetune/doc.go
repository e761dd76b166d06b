// Package finetune trains an adapter of a language model (package model/lora), or all its parameters, with files of texts or
// preferences (package train/text).
//
//	t, err := finetune.New(dev, finetune.Config{Model: "SmolLM2-135M-Instruct.Q4_1.gguf", Data: []string{"train.jsonl"}, Out: "roman", Epochs: 2})
//	defer t.Close()
//	err = t.Run(ctx, func(p finetune.Progress) error {
//		fmt.Println(p.Step, p.Loss)
//		return nil
//	})
//
// The weights of a model that is adapted keep the format of their file and do not change. A step reads some packs of texts one after another, adds up
// their derivatives, and updates the parameters once. Several devices share the packs of each step. The folder Out gets the adapter or the model, losses.csv, and checkpoints, from the last of which
// another Trainer continues with the same bits as if the first had not stopped.
package finetune
