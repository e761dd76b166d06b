// Package finetune trains an adapter of a language model (package model/lora), or all parameters of the model, with files of texts or preferences
// (package train/text).
//
//	t, err := finetune.New(dev, finetune.Config{Model: "SmolLM2-135M-Instruct.Q4_1.gguf", Data: []string{"train.jsonl"}, Out: "roman", Epochs: 2})
//	defer t.Close()
//	err = t.Run(ctx, func(p finetune.Progress) error {
//		fmt.Println(p.Step, p.Loss)
//		return nil
//	})
//
// Texts are put into packs of up to Config.Length tokens. A step adds up the derivatives of Config.Batch packs, and updates the parameters
// once. Several devices share the packs of each step, in one process (New) or with a process for each device (NewRank). Run writes the
// adapter or the model, losses.csv, and checkpoints to the folder Out. With Config.Resume, another Trainer continues an interrupted
// training from its last checkpoint, with the same bits as without the interruption.
package finetune
