package curand_test

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/curand"
	"github.com/gopherwarp/gopherwarp/device"
)

// noise fills x with normal numbers and y with uniform ones.
func noise(s *device.Stream, x, y device.Slice[float32]) error {
	g, err := curand.New(s, curand.Options{Kind: curand.Philox, Seed: 42})
	if err != nil {
		return err
	}
	defer g.Close()
	return cmp.Or(curand.Normal(g, x, 0, 1), curand.Uniform(g, y))
}

func Example() {
	dev, err := cuda.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := device.Make[float32](s, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(noise(s, x.Slice(0, 500), x.Slice(500, 1000)), s.Synchronize(context.Background()))
}
