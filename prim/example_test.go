package prim_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/prim"
)

func Example() {
	dev, err := cpu.Open() // or gopherwarp.Open, for the best device
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	x, err := device.Upload(s, []float32{3, 1, 4, 1, 5, 9, 2, 6})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	sums, err := device.Make[float32](s, x.Len())
	if err != nil {
		log.Fatal(err)
	}
	defer sums.Close()
	running, sorted := make([]float32, x.Len()), make([]float32, x.Len())
	err = errors.Join(
		prim.InclusiveScan(s, prim.Add, sums.All(), x.All()),
		prim.Sort(s, x.All()),
		device.Download(s, running, sums),
		device.Download(s, sorted, x),
		s.Synchronize(context.Background()))
	fmt.Println(running, sorted, err)
	// Output: [3 4 8 9 14 23 25 31] [1 1 2 3 4 5 6 9] <nil>
}
