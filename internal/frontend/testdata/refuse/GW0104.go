package k

import "github.com/gopherwarp/gopherwarp/gpu"

type shape interface{ area() float32 }

type square struct{ side float32 }

func (s square) area() float32 { return s.side * s.side }

func total(s shape) float32 { // want "cannot use an interface value"
	return s.area()
}

//gpu:kernel
func interfaces(t gpu.Thread, x []float32) {
	x[0] = total(square{2}) // want "cannot use an interface value"
	var a any = x[0]
	if f, ok := a.(float32); ok { // want "cannot use an interface value"
		x[1] = f
	}
}
