package nn

import "github.com/gopherwarp/gopherwarp/tensor"

// LossesBy is Losses with at most the given number of scores in memory at a time.
func (l *Linear) LossesBy(most int, x, labels *tensor.Tensor) *tensor.Tensor {
	s := l.scorer()
	s.most = most
	return s.losses(x, labels)
}
