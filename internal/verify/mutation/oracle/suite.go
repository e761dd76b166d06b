package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance"
)

// suite runs a group of the conformance suite with new code, in all variants that launches may get.
func (o *oracle) suite(name string) (string, error) {
	kernels, changed, err := o.build(compile.Options{Dir: o.root, Patterns: []string{"./internal/verify/conformance/" + name + "/..."}})
	if err != nil || !changed {
		return "", err
	}
	checks := ptxinterp.Checked().Checks
	for _, options := range []ptxinterp.Options{{}, {Wide: true, Seed: 99}, {Plain: true, Capability: device.Capability{Major: 7}}} {
		options.Budget, options.Checks = budget, checks
		dev, err := ptxinterp.OpenWith(options)
		if err != nil {
			return "", err
		}
		dev = device.New(&replacing{Backend: dev.Backend(), kernels: kernels})
		dev.CoarsenAlways(true) // the suite's launches are small
		if how := cases(group(name), dev); how != "" {
			return how, nil
		}
	}
	return "", nil
}

func cases(g conformance.Group, dev *device.Device) string {
	for _, c := range g.Cases {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		wrong := c.On(ctx, dev)
		cancel()
		how := ""
		for behaviour, err := range wrong {
			if errors.Is(err, device.ErrNoVariant) { // the GPU is too old
				how = ""
				break
			}
			how = fmt.Sprintf("suite/%s: %s: %v", g.Name, behaviour, err)
		}
		if how != "" {
			return how
		}
	}
	return ""
}
