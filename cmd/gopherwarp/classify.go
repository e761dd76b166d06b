package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/device"
)

type classifyCommand struct {
	Model    string   `required:"" placeholder:"PATH" help:"A safetensors file, or a folder with safetensors files, of EfficientNet-Lite0 or of a ResNet whose tensors have torchvision's names."`
	Pictures []string `arg:"" name:"picture" help:"JPEG or PNG files."`
	Labels   string   `placeholder:"FILE" help:"A file with the names of the classes, one on each line. Default: labels.txt in the model's folder, or numbers instead of names."`
	Top      int      `default:"5" help:"The number of classes to print for each picture."`
	JSON     bool     `name:"json" help:"Print a JSON object for each picture instead of the table."`
	DType    string   `name:"dtype" enum:"auto,float32,bfloat16,float16" default:"auto" help:"The type of weights and activations: float32, bfloat16, float16 or auto, which means float16 on GPUs with tensor cores, and otherwise float32."`
	mapping
}

// Help is the text after the flags.
func (classifyCommand) Help() string {
	return `Prints the most probable classes of each picture, with their probabilities and numbers. ImageNet's classes are numbered from 0 to 999
in the order of its synsets. With -json, each line is an object with the fields picture and classes.

Example:
  gopherwarp classify -model models/efficientnet_lite0 flower.jpg
  gopherwarp classify -model resnet50.safetensors -labels imagenet.txt -top 3 *.jpg
  gopherwarp classify -model models/efficientnet_lite0 -json *.jpg | jq -r .classes[0].name`
}

// Run runs the command.
func (c *classifyCommand) Run(ctx context.Context, t terminal) error {
	o := classify.Options{DType: dtypeOf(c.DType), Map: c.on()}
	var err error
	if c.Labels == "" {
		o.Names, err = labelsIn(c.Model)
	} else {
		o.Names, err = readLines(c.Labels)
	}
	if err != nil {
		return err
	}
	dev, m, err := openModel(t, c.Model, func(dev *device.Device, l loading) (*classify.Model, error) {
		o.Progress = l.progress
		return classify.Open(dev, c.Model, o)
	})
	if err != nil {
		return err
	}
	return errors.Join(c.classify(ctx, t, m), m.Close(), dev.Close())
}

// classify prints the classes of pictures, one after another.
func (c *classifyCommand) classify(ctx context.Context, t terminal, m *classify.Model) error {
	print := newClassTable(t.out, c.Pictures, m.Classes()).print
	if c.JSON {
		print = classesJSON{t.out}.print
	}
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
		if err := print(name, classes[0]); err != nil {
			return err
		}
	}
	return nil
}

// classesJSON writes the classes of pictures as lines of JSON.
type classesJSON struct{ w io.Writer }

// print writes the classes of a picture, with the fields of an answer of the server.
func (j classesJSON) print(picture string, list []classify.Class) error {
	type class struct {
		Class       int     `json:"class"`
		Name        string  `json:"name"`
		Probability float64 `json:"probability"`
	}
	line := struct {
		Picture string  `json:"picture"`
		Classes []class `json:"classes"`
	}{picture, []class{}}
	for _, c := range list {
		line.Classes = append(line.Classes, class{c.Index, c.Name, c.Probability})
	}
	e := json.NewEncoder(j.w)
	e.SetEscapeHTML(false)
	return e.Encode(line)
}
