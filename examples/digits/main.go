// Command digits trains a network to read handwritten digits, on the best device of the machine, and draws its learning curve.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

type options struct {
	epochs int    // how often each digit of the training set is seen
	out    string // file of the learning curve, or "" for none
	save   string // file to which the network is saved, or "" for none
	load   string // file of a network that is not trained any more, or "" to train one
}

func main() {
	var o options
	flag.IntVar(&o.epochs, "epochs", 60, "number of times to go through the training digits")
	flag.StringVar(&o.out, "out", "digits.png", "file to write the learning curve to")
	flag.StringVar(&o.save, "save", "", "file to save the trained network to")
	flag.StringVar(&o.load, "load", "", "file of a saved network, which reads the test digits instead of being trained")
	flag.Parse()
	if _, err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}

// run trains a network, writes its progress to w, and returns the accuracy on digits that it was not trained with.
func run(ctx context.Context, w io.Writer, o options) (accuracy float64, err error) {
	dev, err := gopherwarp.Open()
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	fmt.Fprintln(w, "device:", dev.Info())
	if o.load != "" {
		return read(ctx, w, stream, o.load)
	}
	history, err := learn(ctx, w, stream, o)
	if err != nil {
		return 0, err
	}
	if o.out != "" {
		if err := writePNG(o.out, learningCurve(history)); err != nil {
			return 0, err
		}
		fmt.Fprintln(w, "learning curve:", o.out)
	}
	return history[len(history)-1].test, nil
}

// learn trains a network for some epochs, returns what each achieved, and saves the network.
func learn(ctx context.Context, w io.Writer, stream *device.Stream, o options) ([]epoch, error) {
	training, test, err := divided()
	if err != nil {
		return nil, err
	}
	epochs := max(o.epochs, 1)
	n := newNetwork(stream, epochs*training.Len()/batch)
	defer n.close()
	began, r := time.Now(), rand.New(rand.NewPCG(1, 2))
	var history []epoch
	for i := range epochs {
		e, err := n.epoch(ctx, varied(training, r), uint64(i))
		if err != nil {
			return nil, err
		}
		if e.test, err = n.accuracy(ctx, test); err != nil {
			return nil, err
		}
		history = append(history, e)
		fmt.Fprintf(w, "epoch %2d  loss %.4f  training %6.2f %%  test %6.2f %%  %5.1f s\n", i+1, e.loss, 100*e.training, 100*e.test, time.Since(began).Seconds())
	}
	if o.save != "" {
		if err := n.save(ctx, o.save); err != nil {
			return nil, err
		}
		fmt.Fprintln(w, "network:", o.save)
	}
	return history, nil
}

// read loads a network, and returns its accuracy on digits that it was not trained with.
func read(ctx context.Context, w io.Writer, stream *device.Stream, name string) (accuracy float64, err error) {
	_, test, err := divided()
	if err != nil {
		return 0, err
	}
	n := newNetwork(stream, 1)
	defer n.close()
	if err := n.load(name); err != nil {
		return 0, err
	}
	if accuracy, err = n.accuracy(ctx, test); err != nil {
		return 0, err
	}
	fmt.Fprintf(w, "test %6.2f %%\n", 100*accuracy)
	return accuracy, nil
}
