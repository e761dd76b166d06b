package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/dtype"
)

type classifyCommand struct {
	Model    string   `required:"" placeholder:"PATH" help:"A safetensors file, or a folder with safetensors files: a ResNet with the names of torchvision's tensors, or EfficientNet-Lite0."`
	Pictures []string `arg:"" name:"picture" help:"JPEG or PNG files."`
	Names    string   `placeholder:"FILE" help:"A file with the names of the classes, one on each line. Default: labels.txt in the model's folder, or numbers instead of names."`
	Top      int      `default:"5" help:"The number of classes to print for each picture."`
	DType    string   `name:"dtype" enum:"auto,float32,bfloat16,float16" default:"auto" help:"The type of weights and activations: float32, bfloat16 or float16. Default: float16 on GPUs with tensor cores, and else float32."`
}

// Help is the text after the flags.
func (classifyCommand) Help() string {
	return `Prints the most probable classes of each picture, with their probabilities. ImageNet's classes are numbered from 0 to 999 in the
order of its synsets.

Example:
  gopherwarp classify -model models/efficientnet_lite0 flower.jpg
  gopherwarp classify -model resnet50.safetensors -names imagenet.txt -top 3 *.jpg`
}

// Run runs the command.
func (c *classifyCommand) Run(ctx context.Context, t terminal) error {
	types := map[string]dtype.Type{"float32": dtype.Float32, "bfloat16": dtype.BFloat16, "float16": dtype.Float16}
	o := classify.Options{DType: types[c.DType]}
	var err error
	if c.Names == "" {
		o.Names, err = labelsIn(c.Model)
	} else {
		o.Names, err = readLines(c.Names)
	}
	if err != nil {
		return err
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	progress := console.StartProgress(t.err)
	o.Progress = func(done, total int64) { progress.Show("loading %s: %d of %d MB", c.Model, done>>20, total>>20) }
	m, err := classify.Open(dev, c.Model, o)
	progress.Stop()
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	return errors.Join(c.classify(ctx, t, m), m.Close(), dev.Close())
}

// classify prints the classes of pictures, one after another.
func (c *classifyCommand) classify(ctx context.Context, t terminal, m *classify.Model) error {
	for _, name := range c.Pictures {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		picture, err := classify.Decode(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		classes, err := m.Classify(ctx, c.Top, picture)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, x := range classes[0] {
			if _, err := fmt.Fprintf(t.out, "%s\t%5.1f %%\t%d\t%s\n", name, 100*x.Probability, x.Index, x.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
