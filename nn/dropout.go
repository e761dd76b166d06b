package nn

import "github.com/gopherwarp/gopherwarp/tensor"

// Dropout sets elements to 0 with the probability Rate, in training only: see tensor.Dropout.
type Dropout struct{ Rate float64 }

// Forward returns x, with elements dropped while the Scope of x records.
func (d Dropout) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Dropout(d.Rate) }
