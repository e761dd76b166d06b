package nn

import "github.com/gopherwarp/gopherwarp/tensor"

// Backward calls s.Backward(loss). As soon as the last addition to a range of Memory.Grads has been enqueued on the Scope's stream, Backward
// calls final with this range. The order of the calls depends only on the program. There are no calls for parameters that were not used.
func (p *Params) Backward(s *tensor.Scope, loss *tensor.Tensor, final func(begin, end int)) error {
	m, err := p.Memory(s)
	if err != nil {
		return err
	}
	where := map[*tensor.Tensor]*Parameter{}
	for _, q := range m.parameters {
		where[q.grad] = q
	}
	s.BackwardEach(loss, func(grad *tensor.Tensor) {
		if q := where[grad]; q != nil { // not of other Params
			final(q.at, q.end)
		}
	})
	return s.Err()
}
