package gonumblas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gopherwarp/gopherwarp/cuda/gonumblas"
)

func ExampleOpen() {
	impl, err := gonumblas.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer impl.Close()
	blas64.Use(impl) // from here on, the GPU multiplies
	var c mat.Dense
	c.Mul(mat.NewDense(500, 500, nil), mat.NewDense(500, 500, nil))
}
